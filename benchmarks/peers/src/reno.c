// Preloaded into peers that cannot choose a congestion control themselves: TCP sockets get reno, as bbr costs a
// factor of two to three on loopback. Accepted connections inherit it from their listener.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <netinet/in.h>

int socket(int domain, int type, int protocol) {
  static int (*real)(int, int, int);
  if (!real) real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  int fd = real(domain, type, protocol);
  if (fd >= 0 && (domain == AF_INET || domain == AF_INET6) && (type & 0xf) == SOCK_STREAM)
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
  return fd;
}
