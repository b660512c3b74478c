"""What a running server keeps: models, traces, pictures, sessions and the queue. It knows no Streamlit."""
