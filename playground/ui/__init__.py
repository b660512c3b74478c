"""The server: its middleware, the learner's page as HTML, and the workbench beside it."""
