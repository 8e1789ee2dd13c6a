#ifndef PENSTOCK_SLOW_SERVER_H
#define PENSTOCK_SLOW_SERVER_H

/* An HTTP/1.1 server on a free loopback port, whose number is its first line on standard output.

   It reads and drops the body of every request, and answers at once, except to `GET /wait`: those answers are held back.
   When `expected` of them are, it writes the line "full"; a line on its standard input lets them all go. It ends with its
   standard input, or after three minutes. Returns 1 when it cannot begin. */
int slow_server_run(long expected);

#endif
