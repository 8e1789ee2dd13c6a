#if os(Linux)
    import CNGHTTP2
    import Foundation
    import PenstockCore

    /// Where nghttp2's callbacks arrive: they are C functions, which find their session's events by a pointer.
    final class HTTP2Receiver {
        weak var events: (any HTTP2Events)?

        private static func events(_ pointer: UnsafeMutableRawPointer?) -> (any HTTP2Events)? {
            pointer.flatMap { Unmanaged<HTTP2Receiver>.fromOpaque($0).takeUnretainedValue().events }
        }

        private static func isEnd(_ header: nghttp2_frame_hd) -> Bool {
            header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        }

        // MARK: What came

        static let beginHeaders: nghttp2_on_begin_headers_callback = { _, frame, pointer in
            guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
            events(pointer)?.streamBegan(frame.pointee.hd.stream_id)
            return 0
        }

        static let header: nghttp2_on_header_callback = { _, frame, name, nameCount, value, valueCount, _, pointer in
            guard let frame, let name, let value, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
            events(pointer)?.received(
                String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self),
                String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self),
                on: frame.pointee.hd.stream_id)
            return 0
        }

        static let frameReceived: nghttp2_on_frame_recv_callback = { _, frame, pointer in
            guard let frame, let events = events(pointer) else { return 0 }
            let header = frame.pointee.hd
            if let known = LoopbackServer.HTTP2Frame(frame.pointee) { events.received(known) }
            let isHead = header.type == NGHTTP2_HEADERS.rawValue && frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            if isHead { events.headEnded(header.stream_id) }
            let canEnd = header.type == NGHTTP2_HEADERS.rawValue || header.type == NGHTTP2_DATA.rawValue
            if canEnd, isEnd(header) { events.requestEnded(header.stream_id) }
            return 0
        }

        static let dataReceived: nghttp2_on_data_chunk_recv_callback = { _, _, id, bytes, count, pointer in
            guard let bytes else { return 0 }
            events(pointer)?.received(Data(bytes: bytes, count: count), on: id)
            return 0
        }

        // MARK: What went

        static let frameSent: nghttp2_on_frame_send_callback = { _, frame, pointer in
            guard let header = frame?.pointee.hd else { return 0 }
            let canEnd = header.type == NGHTTP2_HEADERS.rawValue || header.type == NGHTTP2_DATA.rawValue
            if canEnd, isEnd(header) { events(pointer)?.endSent(on: header.stream_id) }
            return 0
        }

        static let streamClosed: nghttp2_on_stream_close_callback = { _, id, _, pointer in
            events(pointer)?.streamClosed(id)
            return 0
        }

        static let readContent: nghttp2_data_source_read_callback = { session, id, buffer, room, flags, _, pointer in
            guard let events = events(pointer), let buffer, let flags else {
                return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
            }
            let (portion, trailers) = events.content(of: id, upTo: room)
            guard case .bytes(let bytes, let isLast) = portion else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            bytes.copyBytes(to: buffer, count: bytes.count)
            guard isLast else { return bytes.count }
            flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if !trailers.isEmpty {
                flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                HTTP2Session.withFields(HTTP2Sink.lines(trailers)) { _ = nghttp2_submit_trailer(session, id, $0, $1) }
            }
            return bytes.count
        }
    }

    extension LoopbackServer.HTTP2Frame {
        fileprivate init?(_ frame: nghttp2_frame) {
            guard let kind = Kind(rawValue: frame.hd.type) else { return nil }
            let code: UInt32? =
                switch kind {
                case .resetStream: frame.rst_stream.error_code
                case .goAway: frame.goaway.error_code
                default: nil
                }
            self.init(
                kind: kind, flags: frame.hd.flags, stream: Int(frame.hd.stream_id), length: frame.hd.length,
                code: code.map(LoopbackServer.HTTP2ErrorCode.init(rawValue:)))
        }
    }
#endif
