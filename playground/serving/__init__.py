"""The API, and what a running server keeps: models, traces, pictures and the queue."""
