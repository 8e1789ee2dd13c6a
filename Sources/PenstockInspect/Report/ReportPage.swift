import Foundation

/// The markup around the data.
struct ReportPage {
    let title: String
    /// How many entries the archive had that are none.
    let unreadable: Int
    /// Drawn anew for each page, so that nothing an archive holds can know it (Content Security Policy Level 3 §7.1).
    let nonce = Data((0..<18).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()

    private var escapedTitle: String {
        title.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    private var note: String {
        guard unreadable > 0 else { return "" }
        return #"<p id="note" role="note">Left out: \#(unreadable) entries of the archive that cannot be read.</p>"#
    }

    private var policy: String {
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'"
    }

    var beforeData: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>\(escapedTitle)</title>
        <style nonce="\(nonce)">\(ReportStyle.text)</style>
        </head>
        <body>
        <header>
        <div class="first"><h1>\(escapedTitle)</h1><ul class="tiles" id="tiles" aria-label="Totals"></ul></div>\(note)
        <div class="tools" role="search"><input id="filter" type="search" autocomplete="off" spellcheck="false"
        placeholder="Filter ( / ): words of the URL, status, decision" aria-label="Filter by words of the URL, status or decision"
        aria-keyshortcuts="/"><select id="kind" aria-label="Which calls"><option value="all">all calls</option>
        <option value="failed">failed</option><option value="retried">several attempts</option>
        <option value="cached">from the cache</option><option value="stale">stale</option></select>
        <select id="scale" aria-label="What the time axis shows"><option value="sight">time of the calls in sight</option>
        <option value="all">time of all calls</option><option value="own">each call from its start</option></select>
        <span id="count" role="status"></span></div>
        <ul id="legend" aria-label="Colours and keys" tabindex="0"><li id="keys"><kbd>↑</kbd> <kbd>↓</kbd> move,
        <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes, <kbd>/</kbd> filters</li></ul>
        <details class="hosts"><summary>Hosts<span id="hostcount"></span></summary><div tabindex="0" role="region"
        aria-label="Hosts"><table><thead><tr><th scope="col">host</th><th scope="col" class="n">calls</th>
        <th scope="col" class="n">failed</th><th scope="col" class="n">attempts</th><th scope="col" class="n">retried</th>
        <th scope="col" class="n">cache</th><th scope="col" class="n">received</th><th scope="col" class="n">median</th>
        <th scope="col" class="n">95 %</th></tr></thead><tbody id="hosts"></tbody></table></div></details>
        </header>
        <main>
        <div id="pane"><div id="list" role="treegrid" aria-label="Calls" aria-colcount="5">
        <div id="head" role="rowgroup"><div role="row" aria-rowindex="1"><span role="columnheader">status</span>
        <span role="columnheader">method</span><span role="columnheader">what</span>
        <span role="columnheader" class="took">took</span><span role="columnheader" id="axis"><span id="axisname"></span>
        <span id="ticks" aria-hidden="true"></span></span></div></div>
        <div id="space" role="rowgroup"></div></div><p id="empty" hidden></p></div>
        <section id="detail" aria-labelledby="detailtitle" tabindex="0" hidden></section>
        </main>
        <noscript>This page needs JavaScript, which it has in itself.</noscript>

        """
    }

    /// A part of the data, as a list of entries without its end.
    static func element(_ entries: Data) -> Data {
        Data(#"<script type="application/json" class="data">"#.utf8) + entries + Data("]</script>\n".utf8)
    }

    var afterData: String {
        "<script nonce=\"\(nonce)\">\(ReportScript.text)</script>\n</body>\n</html>\n"
    }
}
