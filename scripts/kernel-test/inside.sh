#!/bin/sh
# Runs inside the virtual machine of kernel-test.sh, as root: mounts control groups, becomes whom the job is for, and runs
# it.
#
# inside.sh CGROUPS USER FOLDER CHECKOUT COMMAND [ARGUMENT …]
set -eu
groups=$1 user=$2 folder=$3 checkout=$4
shift 4

hostname kernel-test 2>/dev/null || echo kernel-test >/proc/sys/kernel/hostname
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null || :
if command -v ip >/dev/null 2>&1; then ip link set lo up; fi

# /tmp is the machine's own, but for the checkout where that lies in it.
mkdir /run/checkout
mount --bind "$checkout" /run/checkout
mount --bind /run/tmp /tmp
mkdir -p "$checkout"
mount --bind /run/checkout "$checkout"

# The unified hierarchy, as systemd has it: a group for each session, which is its user's where that is not root.
unified() {
  mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
  slice=/sys/fs/cgroup/test.slice session=$slice/session.scope
  mkdir "$slice" "$session"
  echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
  echo '+memory +pids +cpu' >"$slice/cgroup.subtree_control"
  if [ "$user" != 0 ]; then
    chown "$user:$user" "$session" "$session/cgroup.procs" "$session/cgroup.subtree_control" "$session/cgroup.threads"
  fi
  echo $$ >"$session/cgroup.procs"
}

# Version 1: a hierarchy for each controller, and the unified one without any.
legacy() {
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  for controller in memory pids cpu; do
    mkdir "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
  done
  mkdir /sys/fs/cgroup/unified
  mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified
}

case $groups in
  v2) unified ;;
  v1) legacy ;;
  none) ;;
esac

cd "$folder"
[ "$user" != 0 ] || exec "$@"
HOME=/tmp/home-$user
mkdir -m 700 "$HOME"
chown "$user:$user" "$HOME"
export HOME
exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
