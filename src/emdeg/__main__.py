from emdeg.cli import main

main()
