"""What emdeg found, written for people."""
