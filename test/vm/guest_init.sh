#!/bin/busybox sh
# The first process of the guest: mounts the host's files under a layer that is thrown
# away, runs /command there, and says its status on the serial line.
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /dev
mount -t devtmpfs dev /dev
mount -t proc proc /proc
while read -r module; do insmod "/modules/$module"; done </modules/order

mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /host
mount -t tmpfs tmp /rw
mkdir /rw/upper /rw/work
mount -t overlay root -o lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work /new
mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t devtmpfs dev /new/dev
mkdir -p /new/dev/shm
mount -t tmpfs shm /new/dev/shm
mount -t tmpfs run /new/run
share=$(cat /share_path)
if [ -n "$share" ]; then
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 share "/new$share"
fi

cp /command /new/run/command
ip link set lo up
chroot /new /bin/bash /run/command </dev/null
status=$?
sync
echo
echo "GUEST_STATUS=$status"
poweroff -f
