// Constants of sockets that are other types, or are not there, on Linux.
let SOCK_STREAM: Int32 = 1
let SO_NOSIGPIPE: Int32 = 0x1022
