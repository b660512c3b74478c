"""Everything that knows Streamlit: what the pages share."""
