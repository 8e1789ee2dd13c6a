import Foundation
import PenstockCore

/// A page that shows what happened: a waterfall of calls and attempts with their phases, what was decided and why, totals for each
/// host. One file, which needs no network and no other program but a browser.
///
/// ```swift
/// try HTMLReport.write(archive: folder.appending(path: "calls.har"), to: folder.appending(path: "report.html"))
/// ```
///
/// It is made of an archive: of one that ``HARRecorder`` has written, however long ago, or of any other HAR 1.2. What comes from
/// the archive is data to the page and never markup; its content security policy allows its own script and style by a
/// random nonce, and nothing from anywhere.
public enum HTMLReport {
    /// Reads an archive and writes the report, which the user alone may read.
    ///
    /// - Parameter title: stands at the top; `Calls` unless given.
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    public static func write(archive: URL, to report: URL, title: String = "Calls") throws(HARError) {
        let har = try HAR(contentsOf: archive)
        do {
            try PrivateFile(report).replace(with: page(har, title: title))
        } catch {
            throw HARError(error)
        }
    }

    /// The page for an archive.
    package static func page(_ har: HAR, title: String = "Calls") throws(HARError) -> Data {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            let nonce = nonce()
            return Data(before(title, nonce).utf8) + escaped(try encoder.encode(har)) + Data(after(nonce).utf8)
        } catch {
            throw HARError(error)
        }
    }

    /// JSON that no parser of HTML takes for markup: `<` and `&` stand in its texts alone, where they may be escaped.
    static func escaped(_ json: Data) -> Data {
        var result = Data(capacity: json.count + json.count / 16)
        for byte in json {
            switch byte {
            case UInt8(ascii: "<"): result += Data(#"\u003c"#.utf8)
            case UInt8(ascii: ">"): result += Data(#"\u003e"#.utf8)
            case UInt8(ascii: "&"): result += Data(#"\u0026"#.utf8)
            default: result.append(byte)
            }
        }
        return result
    }

    private static func text(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    /// Drawn anew for each page, so that nothing an archive holds can know it (Content Security Policy Level 3 §7.1).
    private static func nonce() -> String {
        Data((0..<18).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }

    private static func policy(_ nonce: String) -> String {
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'"
    }

    private static func before(_ title: String, _ nonce: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(policy(nonce))">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>\(text(title))</title>
        <style nonce="\(nonce)">\(ReportStyle.text)</style>
        </head>
        <body>
        <header>
        <h1>\(text(title))</h1>
        <ul class="tiles" id="tiles"></ul>
        <details class="hosts"><summary>Hosts</summary><div><table><thead><tr><th>host</th><th class="n">calls</th>
        <th class="n">failed</th><th class="n">attempts</th><th class="n">retried</th><th class="n">cache</th>
        <th class="n">received</th><th class="n">median</th><th class="n">95 %</th></tr></thead><tbody id="hosts"></tbody>
        </table></div></details>
        <div class="tools"><input id="filter" type="search" placeholder="Filter ( / ): words of the URL, status, decision"
        aria-label="Filter"><select id="kind" aria-label="Which calls"><option value="all">all calls</option>
        <option value="failed">failed</option><option value="retried">several attempts</option>
        <option value="cached">from the cache</option><option value="stale">stale</option></select>
        <span id="count" role="status"></span><span class="legend" id="legend"></span></div>
        </header>
        <main>
        <div id="list" role="listbox" tabindex="0" aria-label="Calls"><div id="space"></div></div>
        <section id="detail" aria-label="Details" hidden></section>
        </main>
        <noscript>This page needs JavaScript, which it has in itself.</noscript>
        <script type="application/json" id="data">
        """
    }

    private static func after(_ nonce: String) -> String {
        "</script>\n<script nonce=\"\(nonce)\">\(ReportScript.text)</script>\n</body>\n</html>\n"
    }
}

extension HAR {
    /// Reads an archive, whoever has written it.
    ///
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    package init(contentsOf file: URL) throws(HARError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw HARError(error)
        }
        do {
            self = try JSONDecoder().decode(HAR.self, from: data)
        } catch let error as DecodingError {
            throw .notAnArchive(reason: Self.reason(error))
        } catch {
            throw .notAnArchive(reason: "\(type(of: error))")
        }
        guard log.version.hasPrefix("1.") else { throw .notAnArchive(reason: "version \(log.version.prefix(16))") }
    }

    private static func reason(_ error: DecodingError) -> String {
        let context: DecodingError.Context? =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: nil
            }
        let path = context?.codingPath.map(\.stringValue).joined(separator: ".") ?? ""
        return path.isEmpty ? "it is no JSON object with a log" : "at \(path)"
    }
}
