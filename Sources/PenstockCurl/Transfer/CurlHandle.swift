#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// An easy handle, used for one transfer after the other within its pool.
    final class CurlHandle {
        enum Kept: Comparable {
            case nothing
            /// While it is paused, libcurl may read on, and does not say so.
            case maybe
            case something
        }

        let easy: UnsafeMutableRawPointer
        /// The loop and the pool outlive their handles.
        unowned(unsafe) let loop: CurlLoop
        unowned(unsafe) let pool: CurlPool
        private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        /// The size of the buffer for large content, so that it comes in few, large pieces. Only the memory that content is received into
        /// is taken.
        private static let streamBuffer = 512 << 10
        /// The same in the clear, where libcurl reads up to a hundred of them before it comes back, whoever else waits. Over
        /// TLS ``CurlReadLimit`` sees to that, and here ``noteRead(_:)``.
        private static let plainStreamBuffer = 256 << 10
        /// Bytes of large content in the clear from one connection in one round.
        private static let plainShare = 1 << 20
        /// libcurl reads up to 32 KiB at a time from an HTTP/2 connection. This leaves room for that behind a head of 16 KiB
        /// (``CurlFault/missedEnd``).
        private static let sharedBuffer = 48 << 10

        /// What changes. Whoever drives the loop is alone in touching it, so the checks of exclusive access are left out. No
        /// function of libcurl's that may call back is called while a part of it is being changed.
        @exclusivity(unchecked) private var state = State()

        private struct State {
            var transfer: CurlTransfer?
            var index = 0
            var isOver = false
            var kept = Kept.nothing
            var refusesContent = false
            var watched: Int32?
            var hasStoppedReading = false
            /// Sockets that were opened for a connection, of which one will carry it.
            var opened: [Int32] = []
            var socket: Int32?
            var carriage = CurlCarriage()
            var headers = CurlHeaderList()
            /// What it told libcurl of the addresses of its host.
            var addresses: UnsafeMutablePointer<curl_slist>?
            var needsReset = false
            var hasSharedBuffer = false
            /// The size of the buffer as libcurl was told; as much as it takes untold.
            var buffer = CurlReceiveBufferSize.most
            /// Whether libcurl may remember of it that a stream was refused, or may still keep content. It would take the next
            /// failure for a refusal, and send a request again that may have been processed (``CurlFault/rememberedRefusal``,
            /// ``CurlFault/keptContent``).
            var isSpent = false
            var isLarge = false
            var watchesText = false
            var watchesSurplus = false
            /// Whether libcurl tells what it would print.
            var isVerbose = false
            var firstField = CurlFirstField()
            /// What has come in a round, as far as that is bounded.
            var read: (round: UInt64, bytes: Int) = (0, 0)
            var isSound = true
        }

        init?(loop: CurlLoop, pool: CurlPool) {
            guard let easy = curl_easy_init() else { return nil }
            self.easy = easy
            self.loop = loop
            self.pool = pool
            errorText.pointee = 0
            setConstants()
            guard state.isSound else { return nil }
        }

        deinit {
            curl_easy_cleanup(easy)
            state.headers.free()
            curl_slist_free_all(state.addresses)
            errorText.deallocate()
        }

        var transfer: CurlTransfer? { state.transfer }
        /// Its index among those of its pool that are in use.
        var index: Int {
            get { state.index }
            set { state.index = newValue }
        }
        /// The socket of the transfer, where it is known.
        var socket: Int32? { state.socket }
        /// Whether a connection is being made for the transfer.
        var isConnecting: Bool { !state.opened.isEmpty }
        /// What its request was given to.
        var carriage: CurlCarriage { state.carriage }
        /// The socket that libcurl spoke of last while an answer came early, and whether it reads no more from it.
        var watched: Int32? { state.watched }
        var hasStoppedReading: Bool { state.hasStoppedReading }
        var message: String { String(cString: errorText) }

        /// Milliseconds after which an address of the other family is tried as well: RFC 8305 §5.
        private static let attemptDelay = 250

        // MARK: Its use

        /// Whether libcurl has taken every option. A handle that lacks one would send something else than was asked for, to
        /// somewhere else or with less care, so it is used no more.
        var isSound: Bool { state.isSound }

        /// Whether the transfer leaves nothing behind that would meet the next one.
        var isReusable: Bool {
            state.isOver && !state.isSpent && !state.isLarge
                && !(CurlFault.danglingField.isPresent && pool.proxy.tunnels)
                && (state.transfer?.state.attempts ?? 0) <= 1
        }

        /// libcurl has come to the end of the transfer.
        func finish(_ code: CURLcode) {
            state.isOver = true
            state.isSpent = CurlFault.rememberedRefusal.isPresent && code != CURLE_OK && code != CURLE_WRITE_ERROR
        }

        /// Ends what would close the connection when the transfer is taken away.
        func letGo() {
            if state.transfer?.connectsOnly ?? false { return set(CURLOPT_CONNECT_ONLY, 0) }
            if !state.isOver { closeConnection() }
        }

        /// Has the connection closed with the transfer, if no other one uses it: of the end of a stream alone the server would
        /// not be told (``CurlFault/unsentReset``), and what is left of content over HTTP/1.1 would have to be read past.
        func closeConnection() {
            state.needsReset = true
            set(CURLOPT_FORBID_REUSE, 1)
        }

        /// Has libcurl call back as the content comes.
        func watchProgress() {
            state.needsReset = true
            tellProgress()
        }

        /// Whether what libcurl would print is of interest.
        var watchesText: Bool { state.watchesText }

        func watchText() {
            state.watchesText = true
            beVerbose()
        }

        /// Whether libcurl is to tell of bytes behind the response.
        var watchesSurplus: Bool { state.watchesSurplus }

        func watchSurplus() {
            guard CurlFault.untoldSurplus.isPresent, !state.watchesSurplus else { return }
            state.watchesSurplus = true
            beVerbose()
        }

        /// Whether libcurl tells what it would print.
        var isVerbose: Bool { state.isVerbose }

        /// Has libcurl tell what it would print of the transfer: its steps, and what it reads before it takes that apart.
        private func beVerbose() {
            guard !state.isVerbose else { return }
            state.isVerbose = true
            set(CURLOPT_VERBOSE, 1)
        }

        private func beQuiet() {
            guard state.isVerbose else { return }
            state.isVerbose = false
            set(CURLOPT_VERBOSE, 0)
        }

        /// libcurl takes in a line of a head.
        func takesLine(_ line: UnsafeMutableBufferPointer<CChar>) {
            if CurlFault.danglingField.isPresent { state.firstField.look(at: line) }
        }

        /// A line of the head was told: between the status line and the first field line libcurl is listened to.
        func lineCame(_ transfer: CurlTransfer) {
            guard CurlFault.danglingField.isPresent else { return }
            // It has been told of before, where libcurl was listened to.
            if !state.firstField.hasCome { state.firstField.note(transfer.state.head) }
            if !state.firstField.hasCome { return beVerbose() }
            if !state.watchesText, !state.watchesSurplus, !boundsReading { beQuiet() }
        }

        /// The connection was made as any other, so it is kept as any other, but nothing is to be sent: libcurl does not
        /// keep one that was asked for alone from the beginning.
        ///
        /// - Returns: `false` when something would be sent all the same.
        func endConnected() -> Bool {
            set(CURLOPT_CONNECT_ONLY, 1)
            return state.isSound
        }

        /// So much content has been read from a connection in the clear. Beyond its share of a round the transfer rests until
        /// the others have had their turn, also where none of it becomes content, as an extension of a chunk does not.
        func noteRead(_ count: Int) {
            guard boundsReading, let transfer = state.transfer else { return }
            if state.read.round != round { state.read = (round, 0) }
            state.read.bytes += count
            guard state.read.bytes >= Self.plainShare else { return }
            state.read.bytes = 0
            _ = pause(loop.pausing(transfer) | CURLPAUSE_RECV)
            pauseSoon()
        }

        /// Makes it ready for another transfer. The connections, names and sessions it has used are the pool's and stay.
        func clear() {
            state.transfer = nil
            state.isOver = false
            (state.socket, state.watched, state.hasStoppedReading) = (nil, nil, false)
            leaveConnection()
            state.opened.removeAll(keepingCapacity: true)
            errorText.pointee = 0
            if state.addresses != nil { forgetAddresses() }
            (state.watchesText, state.watchesSurplus, state.firstField) = (false, false, CurlFirstField())
            guard state.needsReset else { return beQuiet() }
            curl_easy_reset(easy)
            state.isVerbose = false
            setConstants()
            (state.needsReset, state.hasSharedBuffer, state.buffer) = (false, false, CurlReceiveBufferSize.most)
        }

        /// The options of the transfer are such that the next must begin from nothing.
        func needReset() {
            state.needsReset = true
        }

        /// The transfer has buffers larger than a handle that waits for its next transfer may keep.
        func holdsLargeBuffers() {
            state.isLarge = true
        }

        /// Marks the handle as not to be used again: libcurl had no memory for all that it had to do.
        func distrust() {
            state.isSound = false
        }

        // MARK: Content that libcurl keeps

        /// Whether libcurl keeps content that the transfer has not taken yet.
        var kept: Kept { state.kept }
        /// Whether the transfer takes no content any more.
        var refusesContent: Bool { state.refusesContent }

        /// The transfer has not taken what it was offered.
        func keepsContent() {
            state.kept = .something
            watchSurplus()
        }

        /// Tells libcurl what of the transfer is to rest, and that the rest of it goes on.
        func pause(_ bits: Int32) -> CURLcode {
            let before = state.kept
            state.kept = bits & CURLPAUSE_RECV == 0 ? .nothing : max(before, .maybe)
            // What comes behind a head that waits is read before the head is told.
            if state.kept != .nothing { watchSurplus() }
            let code = curl_easy_pause(easy, bits)
            if code != CURLE_OK { state.kept = before }
            return code
        }

        /// Has libcurl offer once more what it keeps of a paused transfer, and refuses it, so that the next transfer does
        /// not get it (``CurlFault/keptContent``).
        func dropContent() -> CURLcode {
            state.refusesContent = true
            defer { state.refusesContent = false }
            let code = curl_easy_pause(easy, CURLPAUSE_CONT)
            if code != CURLE_OK, code != CURLE_WRITE_ERROR { state.isSpent = true }
            state.kept = .nothing
            return code
        }

        // MARK: The connection

        /// libcurl says what it wants of a socket.
        func watches(_ descriptor: Int32, _ what: Int32) {
            (state.watched, state.hasStoppedReading) = (descriptor, what != CURL_POLL_IN && what != CURL_POLL_INOUT)
        }

        /// A socket was opened for its connection.
        func socketOpened(_ descriptor: Int32) {
            loop.socketOpened(descriptor)
            state.opened.append(descriptor)
            // What is told from now on may be of a connection that the request has not been given to yet.
            leaveConnection()
        }

        /// The request is not with its connection any more.
        func leaveConnection() {
            if let connection = state.carriage.connection, connection.user === self { connection.user = nil }
            state.carriage.leaves()
        }

        /// The request has been given to its connection as a stream.
        func begins(_ stream: Int) {
            state.carriage.begins(stream)
        }

        /// Puts back what libcurl has lost of a link-local address.
        func restoreZone(of target: UnsafeMutablePointer<curl_sockaddr>) {
            pool.restoreZone(of: target)
        }

        /// Learns which socket the request is about to go over.
        ///
        /// - Returns: the connection, if it was made for this request.
        func meet(_ localPort: UInt16) -> CurlConnectionUse? {
            leaveConnection()
            let connection = state.opened.isEmpty ? nil : sockets.learn(localPort, from: state.opened, pool)
            state.opened.removeAll(keepingCapacity: true)
            let socket = sockets.socket(at: localPort)
            state.socket = socket
            state.carriage.meets(connection ?? socket.flatMap { sockets.use(of: $0) })
            if connection == nil { sockets.joins(localPort) }
            return connection
        }

        /// A connection that something has come on while it rested is shut, which makes libcurl connect anew: the bytes were
        /// for no request, and would be taken for the answer to this one (``CurlFault/unaskedBytes``).
        func shutIfNewsCame() {
            guard CurlFault.unaskedBytes.isPresent, let socket, sockets.hasNews(socket, isPlain: isPlain, easy) else {
                return
            }
            connectAnew()
            shutdown(socket, Int32(SHUT_RDWR))
        }

        /// Asks for a connection that carries nothing else: one of HTTP/1.1 that rests, or else a new one of that version, which
        /// libcurl gives to nobody besides (``CurlFault/unaskedPipelining``).
        func goAlone() {
            state.needsReset = true
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            set(CURLOPT_PIPEWAIT, 0)
        }

        private func connectAnew() {
            state.needsReset = true
            set(CURLOPT_FRESH_CONNECT, 1)
        }

        /// Notes that the socket carries one transfer at a time: over TLS that is known when it has carried one.
        func noteUse(isMultiplexed: Bool) {
            guard !isPlain, !isMultiplexed, transfer?.state.head.isComplete == true, let socket else { return }
            sockets.carriesOneByOne(socket)
        }

        private var sockets: CurlSockets { loop.sockets }
        /// Whether what it reads in a round is bounded here (``noteRead(_:)``).
        private var boundsReading: Bool { state.isLarge && isPlain }
        private var isPlain: Bool { state.transfer?.request.request.url.scheme == .http }

        // MARK: What every transfer has in common

        private func setConstants() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            keep(ccurl_set_pointer(easy, CURLOPT_PRIVATE, context))
            keep(ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText))
            set(CURLOPT_NOSIGNAL, 1)
            setSafety()
            setCallbacks(context)
            set(CURLOPT_TCP_NODELAY, 1)
            set(CURLOPT_TCP_KEEPALIVE, 1)
            // libcurl ends connecting after five minutes unless told; the transfer has its own clock.
            set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, Self.attemptDelay)
            set(CURLOPT_MAXAGE_CONN, loop.idleSeconds)
            set(CURLOPT_HTTPGET, 1)
        }

        /// Keeps libcurl from everything that the environment, a file or a server could turn against the request.
        private func setSafety() {
            keep(ccurl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https"))
            pool.proxy.apply(to: easy, keep)
            if pool.proxy.needsWatch { tellProgress() }
            set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
            set(CURLOPT_FOLLOWLOCATION, 0)
            if CurlFault.followedRefusal.isPresent { set(CURLOPT_MAXREDIRS, 0) }
            set(CURLOPT_HTTP09_ALLOWED, 0)
            // Chunks come as they are: ChunkReader reads them.
            set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
            set(CURLOPT_PATH_AS_IS, 1)
            set(CURLOPT_SSL_VERIFYPEER, 1)
            set(CURLOPT_SSL_VERIFYHOST, 2)
            pool.trust.apply(to: easy, keep)
            if CurlLibrary.usesOpenSSL {
                keep(ccurl_set_tls_callback(easy, CurlCallbacks.secure))
                keep(ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque()))
            }
        }

        /// Lays down the rules for a connection that is about to be secured.
        func secure(_ context: OpaquePointer, for transfer: CurlTransfer) -> CURLcode {
            let host = transfer.request.request.url.host
            if CurlFault.unboundedReading.isPresent, !loop.boundReading(of: context) { return CURLE_OUT_OF_MEMORY }
            let isSet = CurlHostVerification.require(host, of: context) && pool.trust.apply(to: context, host)
            return isSet ? CURLE_OK : CURLE_SSL_CONNECT_ERROR
        }

        private func setCallbacks(_ context: UnsafeMutableRawPointer) {
            keep(ccurl_set_data_callback(easy, CURLOPT_HEADERFUNCTION, CurlCallbacks.header))
            keep(ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context))
            ccurl_set_debug_callback(easy, CurlCallbacks.text)
            keep(ccurl_set_pointer(easy, CURLOPT_DEBUGDATA, context))
            keep(ccurl_set_data_callback(easy, CURLOPT_WRITEFUNCTION, CurlCallbacks.body))
            keep(ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context))
            keep(ccurl_set_prereq_callback(easy, CurlCallbacks.prereq))
            keep(ccurl_set_pointer(easy, CURLOPT_PREREQDATA, context))
            keep(ccurl_set_resolver_callback(easy, CurlCallbacks.resolver))
            keep(ccurl_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, context))
            keep(ccurl_set_open_callback(easy, CurlCallbacks.open))
            keep(ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context))
            keep(ccurl_set_close_callback(easy, CurlCallbacks.close))
            keep(ccurl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, loop.closingContext))
        }

        // MARK: What differs

        func prepare(for transfer: CurlTransfer) {
            state.transfer = transfer
            let request = transfer.request.request
            keep(ccurl_set_text(easy, CURLOPT_URL, request.url.absoluteString))
            setVersion(request.url.scheme, isIdempotent: request.method.isIdempotent)
            setMethodAndBody(request, transfer.state.source)
            if let detour = transfer.state.detour { note(detour) }
            if transfer.state.detour != nil || !transfer.request.resolver.isSystem { setAddresses(transfer) }
            state.headers.build(request.fields, hasBody: state.needsReset)
            keep(ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, state.headers.head))
            guard transfer.pipe != nil else { return setBuffer() }
            holdsLargeBuffers()
            if boundsReading { beVerbose() }
            hint(CURLOPT_BUFFERSIZE, isPlain ? Self.plainStreamBuffer : Self.streamBuffer)
        }

        private func setAddresses(_ transfer: CurlTransfer) {
            guard let text = transfer.knownAddresses else { return }
            if let detour = transfer.state.detour, detour.choice != nil {
                detour.choice = CurlChoice(loop.now)
                state.needsReset = true
                set(CURLOPT_CONNECTTIMEOUT_MS, transfer.patienceWithChoice(loop.now))
            }
            let addresses = curl_slist_append(nil, text)
            state.addresses = addresses
            keep(addresses == nil ? CURLE_OUT_OF_MEMORY : ccurl_set_pointer(easy, CURLOPT_RESOLVE, addresses))
        }

        private func forgetAddresses() {
            keep(ccurl_set_pointer(easy, CURLOPT_RESOLVE, nil))
            curl_slist_free_all(state.addresses)
            state.addresses = nil
        }

        private func setBuffer() {
            guard !state.hasSharedBuffer, state.buffer != pool.buffer else { return }
            state.buffer = pool.buffer
            hint(CURLOPT_BUFFERSIZE, state.buffer)
        }

        /// Sets the version of HTTP. Over TLS a transfer waits for a connection under way, which may turn out to carry many. In the clear
        /// there is nothing to wait for: only the first response would tell.
        ///
        /// A GOAWAY libcurl tells as text alone. It costs some lines of text to listen, so only those do for whom it decides
        /// whether they may be sent again.
        private func setVersion(_ scheme: HTTPURL.Scheme, isIdempotent: Bool) {
            let isShared = scheme == .https && pool.isShared && CurlLibrary.speaksHTTP2
            set(CURLOPT_HTTP_VERSION, isShared ? Int(CURL_HTTP_VERSION_2TLS) : Int(CURL_HTTP_VERSION_1_1))
            set(CURLOPT_PIPEWAIT, isShared ? 1 : 0)
            if isShared, !isIdempotent, CurlFault.untoldLeave.isPresent { watchText() }
            guard isShared, !state.hasSharedBuffer, CurlFault.missedEnd.isPresent else { return }
            state.hasSharedBuffer = true
            hint(CURLOPT_BUFFERSIZE, Self.sharedBuffer)
        }

        // MARK: One option

        func set(_ option: CURLoption, _ value: Int) {
            keep(ccurl_set_long(easy, option, value))
        }

        /// A handle that still holds a buffer keeps it.
        func hint(_ option: CURLoption, _ bytes: Int) {
            _ = ccurl_set_long(easy, option, bytes)
        }

        /// Notes whether libcurl has taken an option.
        func keep(_ code: CURLcode) {
            if code != CURLE_OK { state.isSound = false }
        }
    }
#endif
