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
            guard let handle = handle(context), let transfer = handle.transfer, !handle.refusesContent else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: line, count: size * count)
            let isExpected = !transfer.state.head.isComplete
            let taken = transfer.receiveHeader(bytes, handle.now)
            if taken == CURL_WRITEFUNC_PAUSE { handle.keepsContent() }
            handle.lineCame(transfer)
            guard isExpected, transfer.state.head.isComplete || transfer.state.head.isLong, taken == bytes.count else {
                return taken
            }
            if transfer.state.head.version == .http2 { handle.headCame() }
            guard transfer.state.head.isComplete else { return taken }
            if transfer.beginWatchingEnd(handle.easy) { handle.watchProgress() }
            handle.beginWatchingSurplus(transfer)
            handle.headCompleted(transfer)
            return taken
        }

        static let body: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            bytes, size, count, context in
            guard let handle = handle(context), let transfer = handle.transfer, !handle.refusesContent else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let taken = transfer.receiveBody(bytes, handle.now)
            if taken == CURL_WRITEFUNC_PAUSE { handle.keepsContent() }
            return taken
        }

        static let read: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            buffer, size, count, context in
            guard let handle = handle(context), let transfer = handle.transfer else { return Int(CURL_READFUNC_ABORT) }
            let memory = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
            return transfer.readBody(into: memory, handle.now)
        }

        static let seek: curl_seek_callback = { context, offset, origin in
            guard let transfer = handle(context)?.transfer, offset == 0, origin == SEEK_SET, transfer.rewindBody()
            else {
                return CURL_SEEKFUNC_FAIL
            }
            return CURL_SEEKFUNC_OK
        }

        static let prereq: curl_prereq_callback = { context, _, _, _, localPort in
            guard let handle = handle(context), let transfer = handle.transfer else { return CURL_PREREQFUNC_ABORT }
            let connection = handle.meet(UInt16(truncatingIfNeeded: localPort))
            guard handle.takeConnection(isNew: connection != nil) else {
                handle.leaveConnection()
                transfer.lacks(.ownConnection, handle.now)
                return CURL_PREREQFUNC_ABORT
            }
            guard transfer.attempt(handle.easy, over: connection, handle.now) else {
                handle.leaveConnection()
                return CURL_PREREQFUNC_ABORT
            }
            if connection == nil {
                handle.shutIfNewsCame()
            } else {
                transfer.tellConnected(handle.easy)
                handle.connected(transfer)
            }
            if transfer.connectsOnly, !handle.endConnected() { return CURL_PREREQFUNC_ABORT }
            if transfer.state.isSuspended { handle.pauseSoon() }
            return CURL_PREREQFUNC_OK
        }

        static let progress: curl_xferinfo_callback = { context, _, _, _, _ in
            guard let handle = handle(context), let transfer = handle.transfer else { return 0 }
            guard !handle.isConnecting || transfer.mayConnect(handle.easy) else { return 1 }
            transfer.lookForEnd(handle.easy)
            return 0
        }

        static let secure: curl_ssl_ctx_callback = { _, context, pointer in
            guard let context, let handle = handle(pointer), let transfer = handle.transfer else {
                return CURLE_SSL_CONNECT_ERROR
            }
            return handle.secure(OpaquePointer(context), for: transfer)
        }

        static let resolver: curl_resolver_start_callback = { _, _, context in
            guard let handle = handle(context), let transfer = handle.transfer else { return 1 }
            transfer.connectionStarts(handle.now)
            return transfer.skipLookup(handle.now) ? 0 : 1
        }

        static let open: curl_opensocket_callback = { context, _, address in
            guard let handle = handle(context), let target = address else { return CURL_SOCKET_BAD }
            handle.restoreZone(of: target)
            let address = target.pointee
            handle.transfer?.connectionStarts(handle.now)
            guard handle.transfer?.claimSocket(handle.now) ?? true else { return CURL_SOCKET_BAD }
            let type = address.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let descriptor = Glibc.socket(address.family, type, address.protocol)
            guard descriptor >= 0 else {
                if CurlDescriptors.isShortage(errno) { handle.transfer?.lacks(.descriptors, handle.now) }
                return descriptor
            }
            handle.socketOpened(descriptor)
            handle.transfer?.tries(target)
            return descriptor
        }

        static let close: curl_closesocket_callback = { context, descriptor in
            if let context { Unmanaged<CurlPoller>.fromOpaque(context).takeUnretainedValue().closed(descriptor) }
            return Glibc.close(descriptor)
        }

        static let text: curl_debug_callback = { _, kind, bytes, count, context in
            guard let handle = handle(context) else { return 0 }
            if kind == CURLINFO_DATA_IN { handle.noteRead(count) }
            if kind == CURLINFO_HEADER_IN { handle.takesLine(UnsafeMutableBufferPointer(start: bytes, count: count)) }
            if kind == CURLINFO_TEXT { handle.heedSurplus(UnsafeBufferPointer(start: bytes, count: count)) }
            guard kind == CURLINFO_TEXT, handle.watchesText, let transfer = handle.transfer else { return 0 }
            let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
            if let detour = transfer.state.detour { detour.full = CurlDebugText.streams(in: text) ?? detour.full }
            if let stream = CurlDebugText.stream(in: text) { handle.begins(stream) }
            if CurlDebugText.isAgain(text) { handle.leaveConnection() }
            if CurlDebugText.isDowngrade(text) { handle.loop.wantsHTTP1(transfer.request) }
            if let last = CurlDebugText.lastStream(in: text) { transfer.state.pool?.leavesOut(after: last, handle) }
            return 0
        }

        static let socket: curl_socket_callback = { easy, descriptor, what, context, _ in
            guard let pool = pool(context) else { return 0 }
            if pool.hasEarlyAnswers, let easy { handle(ccurl_private(easy))?.watches(descriptor, what) }
            pool.watch(descriptor, what)
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
