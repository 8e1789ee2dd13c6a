#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The C functions libcurl calls. Each finds the object its pointer stands for and does nothing else.
    ///
    /// The pointers are unretained: the loop keeps each handle until libcurl has let go of it, and itself longer still.
    enum CurlCallbacks {
        static let header: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            line, size, count, context in
            guard let handle = handle(context), let exchange = handle.exchange, !handle.refusesContent else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: line, count: size * count)
            let isExpected = !exchange.head.isComplete
            let taken = exchange.receiveHeader(bytes, handle.loop.now)
            if taken == CURL_WRITEFUNC_PAUSE { handle.kept = .something }
            guard isExpected, exchange.head.isComplete || exchange.head.isLong, taken == bytes.count else {
                return taken
            }
            if exchange.head.version == .http2 { exchange.pool?.nudges.headCame(handle.loop.now) }
            guard exchange.head.isComplete else { return taken }
            if exchange.awaitsSecureEnd(handle.easy) { handle.watchProgress() }
            handle.loop.headIsThere(exchange)
            return taken
        }

        static let body: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            bytes, size, count, context in
            guard let handle = handle(context), let exchange = handle.exchange, !handle.refusesContent else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let taken = exchange.receiveBody(bytes, handle.loop.now)
            if taken == CURL_WRITEFUNC_PAUSE { handle.kept = .something }
            return taken
        }

        static let read: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            buffer, size, count, context in
            guard let handle = handle(context), let exchange = handle.exchange else { return Int(CURL_READFUNC_ABORT) }
            let memory = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
            return exchange.readBody(into: memory, handle.loop.now)
        }

        static let seek: curl_seek_callback = { context, offset, origin in
            guard let exchange = handle(context)?.exchange, offset == 0, origin == SEEK_SET, exchange.rewindBody()
            else {
                return CURL_SEEKFUNC_FAIL
            }
            return CURL_SEEKFUNC_OK
        }

        static let prereq: curl_prereq_callback = { context, _, _, _, localPort in
            guard let handle = handle(context), let exchange = handle.exchange else { return CURL_PREREQFUNC_ABORT }
            let connection = handle.meet(UInt16(truncatingIfNeeded: localPort))
            guard exchange.attempt(handle.easy, over: connection, handle.loop.now) else { return CURL_PREREQFUNC_ABORT }
            if connection == nil {
                handle.shutIfNewsCame()
            } else {
                exchange.tellConnected(handle.easy)
                handle.loop.connected(exchange, handle)
            }
            if exchange.connectsOnly, !handle.endConnected() { return CURL_PREREQFUNC_ABORT }
            if exchange.isSuspended { handle.loop.pauseSoon(exchange) }
            return CURL_PREREQFUNC_OK
        }

        static let progress: curl_xferinfo_callback = { context, _, _, _, _ in
            guard let handle = handle(context) else { return 0 }
            handle.exchange?.lookForEnd(handle.easy)
            return 0
        }

        static let secure: curl_ssl_ctx_callback = { _, context, pointer in
            guard let context, let handle = handle(pointer), let exchange = handle.exchange else {
                return CURLE_SSL_CONNECT_ERROR
            }
            return handle.secure(OpaquePointer(context), for: exchange)
        }

        static let resolver: curl_resolver_start_callback = { _, _, context in
            guard let handle = handle(context), let exchange = handle.exchange else { return 1 }
            exchange.connectionStarts(handle.loop.now)
            return exchange.hasAddress(handle.loop.now) ? 0 : 1
        }

        static let open: curl_opensocket_callback = { context, _, address in
            guard let handle = handle(context), let target = address else { return CURL_SOCKET_BAD }
            if let zones = handle.exchange?.pool?.zones { HostAddress.restoreZone(of: target, zones) }
            let address = target.pointee
            handle.exchange?.connectionStarts(handle.loop.now)
            guard handle.exchange?.mayOpenSocket(handle.loop.now) ?? true else { return CURL_SOCKET_BAD }
            let type = address.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let descriptor = Glibc.socket(address.family, type, address.protocol)
            guard descriptor >= 0 else {
                if CurlDescriptors.isShortage(errno) { handle.exchange?.lacks(.descriptors, handle.loop.now) }
                return descriptor
            }
            handle.loop.poller.opened(descriptor)
            handle.hasOpened(descriptor)
            handle.exchange?.tries(target)
            return descriptor
        }

        static let close: curl_closesocket_callback = { context, descriptor in
            if let context { Unmanaged<CurlPoller>.fromOpaque(context).takeUnretainedValue().closed(descriptor) }
            return Glibc.close(descriptor)
        }

        static let text: curl_debug_callback = { _, kind, bytes, count, context in
            guard kind == CURLINFO_TEXT, let handle = handle(context), let exchange = handle.exchange else { return 0 }
            let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
            if let detour = exchange.detour { detour.full = CurlTexts.streams(in: text) ?? detour.full }
            exchange.stream = CurlTexts.stream(in: text) ?? exchange.stream
            if let last = CurlTexts.lastStream(in: text) { exchange.pool?.leavesOut(after: last, handle) }
            return 0
        }

        static let socket: curl_socket_callback = { easy, descriptor, what, context, _ in
            guard let pool = pool(context) else { return 0 }
            if pool.loop.hasEarlyAnswers, let easy { handle(ccurl_private(easy))?.watches(descriptor, what) }
            pool.loop.poller.want(descriptor, what, for: pool)
            return 0
        }

        static let timer: curl_multi_timer_callback = { _, milliseconds, context in
            pool(context)?.setTimer(milliseconds)
            return 0
        }

        static func handle(_ context: UnsafeMutableRawPointer?) -> CurlHandle? {
            context.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
        }

        private static func pool(_ context: UnsafeMutableRawPointer?) -> CurlPool? {
            context.map { Unmanaged<CurlPool>.fromOpaque($0).takeUnretainedValue() }
        }
    }
#endif
