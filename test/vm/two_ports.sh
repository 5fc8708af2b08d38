# two_ports.sh - sourced in the guest, as root: three RDMA ports in one kernel.
#
#   ra (on va, 10.1.0.1)  <- veth ->  rb (on vb, 10.1.0.2)    rc (on dummy0, 10.2.0.1)
#
# A kernel delivers packets between its own addresses without a wire. So local addresses are
# looked up first only for incoming packets, and packets that leave through va or vb have a
# routing table of their own. Faults on the veth pair then affect all traffic between ra and rb.

# The routes and neighbours that a port loses when its link goes down.
route_ports() {
  ip route replace local 10.1.0.1 dev va src 10.1.0.1 table 101
  ip route replace local 10.1.0.2 dev vb src 10.1.0.2 table 102
  ip route replace 10.1.0.0/24 dev va src 10.1.0.1 table 101
  ip route replace 10.1.0.0/24 dev vb src 10.1.0.2 table 102
  ip neigh replace 10.1.0.2 lladdr "$(cat /sys/class/net/vb/address)" dev va nud permanent
  ip neigh replace 10.1.0.1 lladdr "$(cat /sys/class/net/va/address)" dev vb nud permanent
}

make_ports() {
  local port
  ip link add va type veth peer name vb
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
  for port in va vb; do
    # Room for packets of 4096 bytes and their headers.
    ip link set $port mtu 4500 up
    echo 1 >/proc/sys/net/ipv4/conf/$port/accept_local
    echo 0 >/proc/sys/net/ipv4/conf/$port/rp_filter
    ip rule add pref 1 iif $port lookup local
  done
  ip addr add 10.1.0.1/24 dev va
  ip addr add 10.1.0.2/24 dev vb
  ip rule add pref 2 oif va lookup 101
  ip rule add pref 2 oif vb lookup 102
  ip rule add pref 9 lookup local
  ip rule del pref 0
  route_ports
  ip link set dummy0 mtu 4500 up
  ip addr add 10.2.0.1/24 dev dummy0
  rdma link add ra type rxe netdev va
  rdma link add rb type rxe netdev vb
  rdma link add rc type rxe netdev dummy0
}
