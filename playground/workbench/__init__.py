"""What the pages of the workbench share: the sidebar, and the lens as a Streamlit component."""
