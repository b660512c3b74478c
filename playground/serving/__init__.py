"""What a running server keeps: models, traces, pictures, sessions and the queue. Nothing here uses Streamlit."""
