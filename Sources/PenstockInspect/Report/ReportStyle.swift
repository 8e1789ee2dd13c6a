/// How the report looks: light and dark, on a desk and on a phone.
enum ReportStyle {
    static let text = [light, dark, frame, list, bars, details, narrow].joined(separator: "\n")

    /// Text has a contrast of 4.5 to 1 to all that it stands on, bars and edges one of 3 to 1 (WCAG 2.2 §1.4.3 and §1.4.11).
    static let light = """
        :root { color-scheme: light dark; --page: #ffffff; --tile: #f4f6f9; --pick: #dbe8ff; --line: #d9dee5;
          --text: #1c2026; --soft: #5b6470; --bad: #b3261e; --good: #1b6e3c; --warn: #8a5a00; --focus: #1b5fc1;
          --edge: #7a8592; --blocked: #7a8592; --dns: #00857a; --connect: #c2600c; --ssl: #a94fbf; --wait: #2f6fd0;
          --receive: #3c8a1e; --none: #4a5560; --other: #8a6d3b; }
        """

    static let dark = """
        @media (prefers-color-scheme: dark) { :root { --page: #14171b; --tile: #1e2329; --pick: #233a5e; --line: #30363e;
          --text: #e7eaee; --soft: #a5afbb; --bad: #ff8a80; --good: #7bd69a; --warn: #ffc766; --focus: #8ab8ff;
          --edge: #7d8794; --blocked: #8e98a5; --dns: #2db3a3; --connect: #f09a4a; --ssl: #c886d6; --wait: #6aa3ff;
          --receive: #86d25b; --none: #c3cad3; --other: #c9ad78; } }
        """

    private static let frame = """
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--page); color: var(--text);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        :focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
        header { padding: 12px 16px 8px; border-bottom: 1px solid var(--line); }
        .first { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center; }
        h1 { font-size: 18px; margin: 0; overflow-wrap: anywhere; max-height: 3em; overflow: auto; }
        .tiles { display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0; list-style: none; }
        .tiles li { background: var(--tile); border-radius: 8px; padding: 4px 12px; }
        .tiles b { display: block; font-size: 16px; font-variant-numeric: tabular-nums; }
        .tiles span { color: var(--soft); font-size: 12px; }
        #note { margin: 8px 0 0; color: var(--warn); }
        .tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding-top: 8px; }
        .tools input, .tools select, button { font: inherit; color: inherit; background: var(--page);
          border: 1px solid var(--edge); border-radius: 6px; padding: 5px 8px; }
        .tools input { flex: 1 1 220px; min-width: 0; }
        ::placeholder { color: var(--soft); opacity: 1; }
        button { cursor: pointer; padding: 4px 10px; }
        details { padding-top: 6px; }
        .hosts > div { max-height: 30vh; overflow: auto; }
        .hosts tbody th { color: inherit; font-weight: 400; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; padding: 3px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
        th { color: var(--soft); font-weight: 600; }
        td.n, th.n { text-align: right; white-space: nowrap; }
        #legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 8px 0 0; padding: 0; list-style: none; color: var(--soft);
          font-size: 12px; }
        #legend i { display: inline-block; width: 12px; height: 10px; border-radius: 2px; margin-right: 4px; }
        #legend i.whole, #legend i.failed, #legend i.stopped { height: 3px; vertical-align: middle; }
        kbd { font: inherit; border: 1px solid var(--edge); border-radius: 4px; padding: 0 4px; }
        main { flex: 1; min-height: 0; display: flex; }
        """

    /// The grid of the head is that of the rows, so that ticks stand above what they measure.
    private static let list = """
        #pane { flex: 1 1 60%; min-width: 0; position: relative; }
        #list { position: absolute; inset: 0; overflow: auto; container-type: inline-size; }
        #space { position: relative; --row: 34px; }
        #head { position: sticky; top: 0; z-index: 1; background: var(--page); color: var(--soft); font-size: 12px; }
        #head > div, .row { display: grid; align-items: center; gap: 0 8px; padding: 0 16px; border-bottom: 1px solid var(--line);
          grid-template-columns: 76px 48px minmax(0, 1fr) 72px minmax(0, 1fr); }
        #head > div { height: 40px; align-items: end; }
        #head > div > span { padding-bottom: 3px; }
        .row { position: absolute; left: 0; right: 0; height: var(--row); cursor: pointer; }
        .row:hover { background: var(--tile); --under: var(--tile); }
        .row[aria-expanded="true"] { background: var(--pick); --under: var(--pick); }
        .row:focus-visible { outline-offset: -2px; }
        .what { display: flex; align-items: center; min-width: 0; }
        .row .url { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .row .host { color: var(--soft); }
        .mark { flex: none; font-size: 11px; border: 1px solid var(--edge); border-radius: 4px; padding: 0 4px; margin-left: 6px;
          color: var(--soft); }
        .why { flex: 1 1 0; min-width: 0; margin-left: 8px; font-size: 12px; color: var(--soft); overflow: hidden;
          text-overflow: ellipsis; white-space: nowrap; }
        .took { text-align: right; font-variant-numeric: tabular-nums; color: var(--soft); }
        .row .method { font-size: 12px; color: var(--soft); overflow: hidden; text-overflow: ellipsis; }
        .status { font-weight: 600; font-variant-numeric: tabular-nums; }
        .bad { color: var(--bad); } .good { color: var(--good); } .warn { color: var(--warn); }
        #empty { position: absolute; inset: 0; margin: 0; padding: 72px 32px; text-align: center; color: var(--soft);
          pointer-events: none; }
        """

    private static let bars = """
        #axis { align-self: stretch; position: relative; overflow: hidden; padding: 0 !important; }
        #axisname { position: absolute; top: 3px; left: 4px; white-space: nowrap; }
        #ticks { position: absolute; inset: auto 0 0; height: 18px; }
        .tick { position: absolute; top: 0; bottom: 0; padding-left: 4px; border-left: 1px solid var(--edge); font-style: normal;
          font-size: 11px; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .bar { position: relative; height: 100%; overflow: hidden; }
        .row .bar { background: repeating-linear-gradient(to right, var(--line) 0 1px, transparent 1px var(--tick));
          background-position-x: var(--firsttick); background-size: calc(100% + var(--tick)) 100%; background-repeat: no-repeat; }
        .bar i { position: absolute; top: calc(50% - 6px); height: 11px; min-width: 2px; border-radius: 2px; }
        .bar i.wide { box-shadow: -1px 0 var(--under, var(--page)); }
        .bar i.whole { top: calc(50% - 1px); height: 2px; box-shadow: none !important; }
        .bar i.none, .bar i.other { min-width: 3px; }
        .bar i.failed, .bar i.stopped { top: calc(50% + 7px); height: 3px; min-width: 3px; border-radius: 0;
          box-shadow: none !important; }
        .bar i, #legend i { forced-color-adjust: none; }
        .blocked { background: var(--blocked); } .dns { background: var(--dns); } .connect { background: var(--connect); }
        .ssl { background: var(--ssl); } .wait { background: var(--wait); } .receive { background: var(--receive); }
        .none { background: var(--none); } .other { background: var(--other); } .whole { background: var(--soft); }
        .failed { background: var(--bad); } .stopped { background: var(--warn); }
        """

    private static let details = """
        h2 { font-size: 15px; margin: 0; min-width: 0; }
        h3 { font-size: 14px; margin: 14px 0 4px; }
        #detail { flex: 1 1 40%; min-width: 0; overflow: auto; border-left: 1px solid var(--line); padding: 0 16px 24px; }
        #detail[hidden] { display: none; }
        #detail .url, pre { overflow-wrap: anywhere; white-space: pre-wrap; }
        pre { background: var(--tile); border-radius: 6px; padding: 8px; max-height: 40vh; overflow: auto; }
        pre button { display: block; margin-top: 8px; }
        #detail th { width: 30%; min-width: 104px; font-weight: 400; overflow-wrap: break-word; }
        #detail .phases th { white-space: nowrap; }
        #detail td, #detail th { padding-left: 0; }
        #detail td { overflow-wrap: anywhere; }
        #detail td > span > i { display: inline-block; width: 12px; height: 10px; border-radius: 2px; margin-right: 6px;
          forced-color-adjust: none; }
        #detail summary { cursor: pointer; font-weight: 600; padding: 2px 0; }
        .course { display: grid; grid-template-columns: 92px minmax(0, 1fr); gap: 0 8px; color: var(--soft); }
        .course .bar { height: 26px; }
        .ticks { position: relative; height: 20px; overflow: hidden; border-bottom: 1px solid var(--line); }
        .top { position: sticky; top: 0; z-index: 1; display: flex; justify-content: space-between; gap: 8px; align-items: start;
          background: var(--page); padding: 10px 0 8px; }
        .top .url { max-height: 6em; overflow: auto; }
        """

    /// A list that has little room, on a phone or beside the details, has rows of two lines.
    private static let narrow = """
        @container (max-width: 800px) { .row .host, .why { display: none; } }
        @container (max-width: 620px) {
          #space { --row: 54px; }
          #head > div, .row { grid-template: "status method what took" 26px "bar bar bar bar" 22px / 72px auto minmax(0, 1fr) 72px;
            padding: 0 10px; }
          #head > div { display: block; } #head > div > span { display: none; } #head > div > #axis { display: block; height: 100%; }
          .status { grid-area: status; } .what { grid-area: what; } .took { grid-area: took; } .row .bar { grid-area: bar; }
          .row .method { grid-area: method; } .row .get { display: none; }
        }
        @media (max-width: 720px) {
          header { padding: 8px 10px; }
          .first { gap: 6px; } h1 { width: 100%; } .tiles { display: grid; grid-template-columns: repeat(4, auto); width: 100%; gap: 4px; }
          .tiles li { padding: 2px 6px; } .tiles b { font-size: 14px; } .tiles span { font-size: 11px; display: block; line-height: 1.2; }
          .tools select { flex: 1 1 100px; min-width: 0; } #keys { display: none; }
          #legend { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; padding-bottom: 8px; scrollbar-width: thin; }
          #detail { position: fixed; inset: 12% 0 0; z-index: 2; background: var(--page); border: 0;
            border-top: 2px solid var(--line); box-shadow: 0 -8px 24px #0006; }
        }
        @media (max-height: 520px) { body { display: block; } main { height: 100%; } }
        """
}
