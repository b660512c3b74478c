from playground.ui import host

host.show("two_ways")
