from playground.ui import host

host.show("code")
