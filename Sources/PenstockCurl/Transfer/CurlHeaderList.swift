#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// Request fields as the linked list libcurl reads, laid out in one block of memory that is used again for the next
    /// request of the same handle.
    struct CurlHeaderList {
        private var text = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 256)
        private var nodes = UnsafeMutableBufferPointer<curl_slist>.allocate(capacity: 8)
        private var textCount = 0
        private var nodeCount = 0
        /// What the list was made of.
        private var made: (fields: HTTPFields, hasBody: Bool)?

        /// Framing is the transport's own; a copy of it in the fields could contradict the body.
        private static let omitted: [HTTPFieldName] = [.contentLength, .transferEncoding]

        private static let acceptEncoding = "Accept-Encoding: \(ContentDecoder.accepted)"

        /// Valid until the next ``build(_:hasBody:)``; `nil` for an empty list.
        var head: UnsafeMutablePointer<curl_slist>? { nodeCount == 0 ? nil : nodes.baseAddress }

        mutating func build(_ fields: HTTPFields, hasBody: Bool) {
            // One request's fields are mostly the next one's too.
            if let made, made.hasBody == hasBody, made.fields.isWritten(as: fields) { return }
            made = (fields, hasBody)
            (textCount, nodeCount) = (0, 0)
            var (needed, count) = (128, 6)
            for field in fields {
                needed += field.name.text.utf8.count + field.value.utf8.count + 3
                count += 1
            }
            reserve(text: needed, nodes: count)
            for field in fields where !Self.omitted.contains(field.name) { append(field) }
            suppressDefaults(fields, hasBody: hasBody)
        }

        func free() {
            text.deallocate()
            nodes.deallocate()
        }

        /// A name without a value keeps libcurl from adding its own.
        private mutating func suppressDefaults(_ fields: HTTPFields, hasBody: Bool) {
            if !fields.contains(.accept) { append("Accept:") }
            // libcurl itself must remove none: it would do so without a bound, also from content that nobody wants.
            if !fields.contains(.acceptEncoding) { append(Self.acceptEncoding) }
            guard hasBody else { return }
            if !fields.contains(.contentType) { append("Content-Type:") }
            if !fields.contains("Expect") { append("Expect:") }
        }

        private mutating func append(_ field: HTTPField) {
            let start = textCount
            write(field.name.text)
            // An empty value is written with a semicolon: with a colon libcurl would leave the field out.
            if field.value.isEmpty {
                write(";")
            } else {
                write(": ")
                write(field.value)
            }
            link(start)
        }

        private mutating func append(_ line: String) {
            let start = textCount
            write(line)
            link(start)
        }

        private mutating func write(_ part: String) {
            var part = part
            part.withUTF8 { bytes in
                guard let source = bytes.baseAddress, let target = text.baseAddress else { return }
                memcpy(target + textCount, source, bytes.count)
                textCount += bytes.count
            }
        }

        private mutating func link(_ start: Int) {
            guard let base = text.baseAddress, let first = nodes.baseAddress else { return }
            text[textCount] = 0
            textCount += 1
            nodes[nodeCount] = curl_slist(data: base + start, next: nil)
            if nodeCount > 0 { nodes[nodeCount - 1].next = first + nodeCount }
            nodeCount += 1
        }

        private mutating func reserve(text neededText: Int, nodes neededNodes: Int) {
            if neededText > text.count {
                text.deallocate()
                text = .allocate(capacity: neededText)
            }
            if neededNodes > nodes.count {
                nodes.deallocate()
                nodes = .allocate(capacity: neededNodes)
            }
        }
    }
#endif
