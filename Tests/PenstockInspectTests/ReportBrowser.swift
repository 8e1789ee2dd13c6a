import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockInspect

/// A browser without a window, which opens reports.
enum ReportBrowser {
    /// Something to do in the page, in JavaScript, and what it must come to as text.
    struct Step {
        let name: String
        let expression: String
        let result: String

        init(_ name: String, _ expression: String, is result: String = "undefined") {
            (self.name, self.expression, self.result) = (name, expression, result)
        }
    }

    private static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }

    /// What the page has become after its script has run.
    ///
    /// - Parameter script: runs in the page behind its own.
    static func page(
        _ har: HAR, title: String = "Calls", size: (Int, Int) = (1280, 800), script: String = "",
        arguments: [String] = []
    ) async throws -> String {
        let folder = try InspectRig.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("report.html")
        try Data(with(script, in: HTMLReport.page(har, title: title)).utf8).write(to: file)
        let result = try await Subprocess.run(
            try #require(program),
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--user-data-dir=\(folder.path)/profile", "--virtual-time-budget=20000",
                "--window-size=\(size.0),\(size.1)", "--enable-logging=stderr", "--dump-dom",
            ] + arguments + [file.absoluteString])
        return result.output
    }

    /// Takes the steps one after the other, and checks what each comes to.
    static func check(
        _ har: HAR, title: String = "Calls", size: (Int, Int) = (1280, 800), arguments: [String] = [], _ steps: [Step],
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let steps = steps + [Step("Nothing was thrown", "thrown", is: "")]
        let list = steps.map { "() => (\($0.expression))" }.joined(separator: ",\n")
        let page = try await page(
            har, title: title, size: size, script: "const STEPS = [\n\(list)];\n" + runner, arguments: arguments)
        let told = page.components(separatedBy: "data-told=\"").dropFirst().first?.prefix { $0 != "\"" } ?? ""
        let text = try #require(told.removingPercentEncoding)
        let results = try JSONDecoder().decode([String].self, from: Data(text.utf8))
        for (step, result) in zip(steps, results) where result != step.result {
            Issue.record("\(step.name): \(result), and not \(step.result)", sourceLocation: location)
        }
        #expect(results.count == steps.count, sourceLocation: location)
    }

    /// The page admits scripts by its nonce alone.
    private static func with(_ script: String, in page: Data) -> String {
        let page = String(decoding: page, as: UTF8.self)
        guard !script.isEmpty else { return page }
        let nonce = page.components(separatedBy: "'nonce-").dropFirst().first?.prefix { $0 != "'" } ?? ""
        return page.replacingOccurrences(
            of: "</body>", with: "<script nonce=\"\(nonce)\">{\n\(script)\n}</script></body>")
    }

    /// Names for the steps, and what takes them once the page is ready.
    private static let runner = #"""
        const one = (selector) => document.querySelector(selector);
        const all = (selector) => [...document.querySelectorAll(selector)];
        const press = (key) => {
          const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
          document.activeElement.dispatchEvent(event);
          return event.defaultPrevented;
        };
        const type = (text) => {
          one('#filter').value = text;
          one('#filter').dispatchEvent(new Event('input', { bubbles: true }));
        };
        const choose = (id, value) => {
          one(id).value = value;
          one(id).dispatchEvent(new Event('change', { bubbles: true }));
        };
        const thrown = [];
        addEventListener('error', (event) => thrown.push(event.message));
        const focused = () => document.activeElement.id || document.activeElement.tagName;
        const rest = () => new Promise((resolve) => setTimeout(resolve, 50));
        (async () => {
          while (!document.documentElement.dataset.ready) await rest();
          const results = [];
          for (const step of STEPS) {
            try { results.push(String(await step())); } catch (error) { results.push(String(error)); }
            await rest();
          }
          document.documentElement.dataset.told = encodeURIComponent(JSON.stringify(results));
        })();
        """#
}
