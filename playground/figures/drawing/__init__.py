"""What layouts are made of: a Spec, a map's numbers and colours, panels on a sheet, and the words beside them."""
