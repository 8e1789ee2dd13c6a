#if os(Linux)
    import CNGHTTP2
    import Foundation
    import PenstockCore

    /// What a session finds in the bytes that came.
    protocol HTTP2Events: AnyObject {
        func streamBegan(_ id: Int32)
        func received(_ name: String, _ value: String, on id: Int32)
        func headEnded(_ id: Int32)
        func received(_ content: Data, on id: Int32)
        func requestEnded(_ id: Int32)
        func endSent(on id: Int32)
        func streamClosed(_ id: Int32)
        func received(_ frame: LoopbackServer.HTTP2Frame)
        func content(of id: Int32, upTo count: Int) -> (HTTP2Stream.Portion, trailers: HTTPFields)
    }

    /// The server's end of HTTP/2 (RFC 9113) by nghttp2: bytes in, events out, and the other way round. For one thread.
    final class HTTP2Session {
        private let handle: OpaquePointer
        private let receiver = HTTP2Receiver()

        /// `nil` when there is no memory.
        init?(_ settings: LoopbackServer.HTTP2Settings) {
            var callbacks: OpaquePointer?
            var options: OpaquePointer?
            var session: OpaquePointer?
            defer {
                nghttp2_session_callbacks_del(callbacks)
                nghttp2_option_del(options)
            }
            guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 else { return nil }
            HTTP2Session.setCallbacks(callbacks)
            // What was read is told by ``consume(_:of:)``, so that a stall can hold the client back.
            nghttp2_option_set_no_auto_window_update(options, 1)
            let pointer = Unmanaged.passUnretained(receiver).toOpaque()
            guard nghttp2_session_server_new2(&session, callbacks, pointer, options) == 0, let session else {
                return nil
            }
            handle = session
            submit(settings)
        }

        deinit {
            nghttp2_session_del(handle)
        }

        func start(with events: any HTTP2Events) {
            receiver.events = events
        }

        // MARK: Bytes

        /// - Returns: `false` when the client speaks something else.
        func take(_ bytes: [UInt8]) -> Bool {
            nghttp2_session_mem_recv(handle, bytes, bytes.count) >= 0
        }

        /// The next bytes to send; `nil` when there are none.
        func nextOutput() -> Data? {
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &start)
            guard count > 0, let start else { return nil }
            return Data(bytes: start, count: count)
        }

        /// Whether there is anything more to do.
        var isAlive: Bool { nghttp2_session_want_read(handle) != 0 || nghttp2_session_want_write(handle) != 0 }

        // MARK: Frames

        func submit(_ settings: LoopbackServer.HTTP2Settings) {
            var values = [
                (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.concurrentStreams),
                (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, min(settings.initialWindow, 0x7FFF_FFFF)),
            ]
            if let bytes = settings.headerTableBytes { values.append((NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, bytes)) }
            if let bytes = settings.frameBytes { values.append((NGHTTP2_SETTINGS_MAX_FRAME_SIZE, bytes)) }
            let entries = values.map {
                nghttp2_settings_entry(settings_id: Int32($0.rawValue), value: UInt32(clamping: $1))
            }
            nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        }

        func submitInterim(_ fields: [(String, String)], on id: Int32) {
            HTTP2Session.withFields(fields) {
                _ = nghttp2_submit_headers(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, nil, $0, $1, nil)
            }
        }

        /// - Parameter isAll: neither content nor trailers follow.
        func submitHead(_ fields: [(String, String)], on id: Int32, isAll: Bool) {
            var content = nghttp2_data_provider()
            content.read_callback = HTTP2Receiver.readContent
            HTTP2Session.withFields(fields) { list, count in
                _ = withUnsafePointer(to: &content) {
                    nghttp2_submit_response(handle, id, list, count, isAll ? nil : $0)
                }
            }
        }

        /// There is more content, or its end.
        func resume(_ id: Int32) {
            nghttp2_session_resume_data(handle, id)
        }

        func reset(_ id: Int32, _ code: LoopbackServer.HTTP2ErrorCode) {
            nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
        }

        func goAway(lastStream: Int32, _ code: LoopbackServer.HTTP2ErrorCode) {
            nghttp2_submit_goaway(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, code.rawValue, nil, 0)
        }

        /// So much of a stream's content was read: the client may send as much again, unless only others may.
        func consume(_ count: Int, of id: Int32, isStalled: Bool) {
            if isStalled {
                nghttp2_session_consume_connection(handle, count)
            } else {
                nghttp2_session_consume(handle, id, count)
            }
        }

        /// Gives C a list of fields for as long as the call lasts; nghttp2 copies it.
        static func withFields(_ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
            var bytes = fields.flatMap { Array($0.0.utf8) + Array($0.1.utf8) }
            // An address even when there is nothing at it.
            bytes.append(0)
            bytes.withUnsafeMutableBufferPointer { buffer in
                guard var next = buffer.baseAddress else { return }
                let list = fields.map { name, value in
                    let (nameCount, valueCount) = (name.utf8.count, value.utf8.count)
                    defer { next += nameCount + valueCount }
                    return nghttp2_nv(
                        name: next, value: next + nameCount, namelen: nameCount, valuelen: valueCount,
                        flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
                }
                list.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
            }
        }

        private static func setCallbacks(_ callbacks: OpaquePointer?) {
            nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, HTTP2Receiver.beginHeaders)
            nghttp2_session_callbacks_set_on_header_callback(callbacks, HTTP2Receiver.header)
            nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, HTTP2Receiver.frameReceived)
            nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, HTTP2Receiver.dataReceived)
            nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, HTTP2Receiver.frameSent)
            nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, HTTP2Receiver.streamClosed)
        }
    }
#endif
