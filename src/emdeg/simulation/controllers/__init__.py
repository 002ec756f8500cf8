"""Control laws, what stands between them and the joints, and the linear models they are judged by."""
