#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void ambit_bring_up_loopback(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd == -1) return;
  struct ifreq request;
  memset(&request, 0, sizeof request);
  memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  ioctl(fd, SIOCSIFFLAGS, &request);
  close(fd);
}

int ambit_new_network(void) {
  int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (own == -1) return -errno;
  int made = -1;
  if (unshare(CLONE_NEWNET) == -1) {
    made = -errno;
  } else {
    ambit_bring_up_loopback();
    made = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (made == -1) made = -errno;
    if (setns(own, CLONE_NEWNET) == -1) {
      int error = errno;
      if (made >= 0) close(made);
      made = -error;
    }
  }
  close(own);
  return made;
}
