import Foundation
import Penstock
import PenstockTestSupport
import Testing

/// What multipart uploads send is read back by parsers that the authors of this package did not write.
@Suite(.needsServers, .timeLimit(.minutes(5))) struct MultipartParserTests {
    /// One part as a parser gives it.
    private struct Part: Hashable {
        let name: String
        let fileName: String?
        let contentType: String?
        let content: Data
    }

    private static let picture = sampleBytes(seed: 227, count: 300_000)
    /// What a boundary of ours looks like nearly, and ends of lines.
    private static let tricky = Data("\r\n--penstock-\r\n--\r\n\r\n-".utf8)

    private static func form(_ file: URL) -> [(part: MultipartPart, content: Data)] {
        [
            (.field("title", "On the beach\n"), Data("On the beach\n".utf8)), (.field("empty", ""), Data()),
            (.file("picture", file), picture), (.data("tricky", tricky, fileName: "a \"b\" é日本.png"), tricky),
            (.data("no\"te\r\n", tricky, fileName: "x", contentType: "text/plain; charset=utf-8"), tricky),
            (
                MultipartPart(
                    "stream", fileName: "s.bin", fields: ["X-Note": "of its own", "Content-Type": "a/b"],
                    content: .stream {
                        HTTPBody.Chunks { continuation in
                            for start in stride(from: 0, to: 300_000, by: 7_000) {
                                continuation.yield(Data(picture.dropFirst(start).prefix(7_000)))
                            }
                            continuation.finish()
                        }
                    }), picture
            ),
        ]
    }

    /// By scalars: to Swift the end of a line is one character.
    private static func escaped(_ name: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\"": "%22", "\r": "%0D", "\n": "%0A"]
        return name.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }

    private static func essence(_ type: String) -> String { String(type.prefix { $0 != ";" }) }

    @Test(
        "Four independent parsers read back what a form was made of",
        arguments: [
            "werkzeug", "multipart", "python-multipart", "streaming-form-data",
        ])
    func parsers(kind: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("beach.jpg")
        try Self.picture.write(to: file)
        let parts = Self.form(file)
        let body = HTTPBody.multipart(parts.map(\.part))
        let boundary = try #require(body.contentType?.split(separator: "=").last)
        guard case .stream(let open) = body.source else {
            Issue.record("a form with a file is a stream")
            return
        }
        var sent = Data()
        for try await piece in try open() { sent.append(piece) }
        let wire = folder.appendingPathComponent("form")
        try sent.write(to: wire)
        let names = try JSONEncoder().encode(parts.map { Self.escaped($0.part.name) })
        let python = try #require(Programs.python)
        let finished = try await Subprocess.run(
            python, ["-c", Self.script, kind, String(boundary), wire.path, String(decoding: names, as: UTF8.self)],
            in: folder)
        try #require(finished.status == 0, "\(finished.output)")
        let read = try JSONDecoder().decode([[String?]].self, from: Data(finished.output.utf8)).map { line in
            // Some undo what browsers do to a quote, and some leave out the parameters of a type.
            Part(
                name: Self.escaped(line[0] ?? ""), fileName: line[1].map(Self.escaped),
                contentType: line[2].map(Self.essence), content: Data(base64Encoded: line[3] ?? "") ?? Data())
        }
        let expected = parts.map { part, content in
            let isFile = part.fileName != nil
            let type = part.fields[.contentType] ?? part.content.contentType
            return Part(
                name: Self.escaped(part.name), fileName: part.fileName.map(Self.escaped),
                contentType: isFile ? type.map(Self.essence) : nil, content: content)
        }
        #expect(Set(read) == Set(expected))
        #expect(read.count == expected.count)
    }

    /// Reads a form from a file and prints its parts: name, file name, content type, and the content in base64.
    private static let script = #"""
        import base64, json, os, sys

        kind, boundary, path = sys.argv[1], sys.argv[2], sys.argv[3]
        content_type = "multipart/form-data; boundary=" + boundary
        found = []

        def add(name, file_name, type, data):
            found.append([name, file_name, type, base64.b64encode(data).decode()])

        if kind == "werkzeug":
            from werkzeug.formparser import parse_form_data
            environ = {"REQUEST_METHOD": "POST", "CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(os.path.getsize(path)),
                       "wsgi.input": open(path, "rb")}
            _, form, files = parse_form_data(environ, silent=False)
            for name, value in form.items(multi=True): add(name, None, None, value.encode())
            for name, file in files.items(multi=True): add(name, file.filename, file.content_type, file.read())
        elif kind == "multipart":
            import multipart
            for part in multipart.MultipartParser(open(path, "rb"), boundary, memfile_limit=1 << 26):
                is_file = part.filename is not None
                add(part.name, part.filename, part.content_type if is_file else None, part.raw)
        elif kind == "python-multipart":
            from python_multipart.multipart import MultipartParser, parse_options_header
            state = {}
            def begin(): state.update(headers={}, field=b"", value=b"", data=bytearray())
            def field(data, start, end): state["field"] += data[start:end]
            def value(data, start, end): state["value"] += data[start:end]
            def header_end():
                state["headers"][state["field"].lower()] = state["value"]
                state["field"] = state["value"] = b""
            def content(data, start, end): state["data"] += data[start:end]
            def finish():
                _, options = parse_options_header(state["headers"][b"content-disposition"])
                type = state["headers"].get(b"content-type")
                name = options.get(b"filename")
                add(options[b"name"].decode(), name.decode() if name is not None else None,
                    type.decode() if type else None, bytes(state["data"]))
            parser = MultipartParser(boundary, {
                "on_part_begin": begin, "on_header_field": field, "on_header_value": value, "on_header_end": header_end,
                "on_part_data": content, "on_part_end": finish})
            with open(path, "rb") as file:
                while piece := file.read(10_007): parser.write(piece)
            parser.finalize()
        elif kind == "streaming-form-data":
            from streaming_form_data import StreamingFormDataParser
            from streaming_form_data.targets import ValueTarget
            names = json.loads(sys.argv[4])
            targets = {name: ValueTarget() for name in names}
            parser = StreamingFormDataParser(headers={"Content-Type": content_type})
            for name, target in targets.items(): parser.register(name, target)
            with open(path, "rb") as file:
                while piece := file.read(10_007): parser.data_received(piece)
            for name, target in targets.items():
                add(name, target.multipart_filename, target.multipart_content_type, target.value)
        print(json.dumps(found))
        """#
}
