#ifndef PENSTOCK_ECHO_SERVER_H
#define PENSTOCK_ECHO_SERVER_H

/* Says the port of a new listener on the loopback interface on standard output, makes one connection that comes a WebSocket
   (RFC 6455), and sends every message of up to 64 KiB back. Returns 0 when the connection is over. */
int echo_server_run(void);

#endif
