from playground.ui import host

host.show("by_hand")
