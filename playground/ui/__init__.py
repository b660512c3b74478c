"""All modules that use Streamlit: what the app's pages share."""
