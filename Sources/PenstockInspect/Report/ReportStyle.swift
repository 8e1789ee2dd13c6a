/// How the report looks: light and dark, on a desk and on a phone.
enum ReportStyle {
    static let text = """
        :root { color-scheme: light dark; --page: #fff; --text: #1c2026; --soft: #5b6470; --line: #d9dee5; --tile: #f4f6f9;
          --pick: #dbe8ff; --focus: #1b5fc1; --bad: #b3261e; --good: #1b6e3c; --warn: #8a5a00; --blocked: #aab2bd; --dns: #2a9d8f;
          --connect: #e9862e; --ssl: #b05fc4; --wait: #3a78d6; --receive: #55a630; --cache: #8b8f98; }
        @media (prefers-color-scheme: dark) { :root { --page: #14171b; --text: #e7eaee; --soft: #9aa4b1; --line: #30363e;
          --tile: #1e2329; --pick: #233a5e; --focus: #8ab8ff; --bad: #ff8a80; --good: #7bd69a; --warn: #ffc766; --blocked: #59616c;
          --wait: #6aa3ff; --receive: #86d25b; --cache: #7c828c; } }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--page); color: var(--text);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        header { padding: 12px 16px 8px; border-bottom: 1px solid var(--line); }
        h1 { font-size: 18px; margin: 0 0 8px; }
        h2 { font-size: 15px; margin: 16px 0 6px; }
        h3 { font-size: 14px; margin: 12px 0 4px; }
        .tiles { display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0; list-style: none; }
        .tiles li { background: var(--tile); border-radius: 8px; padding: 6px 12px; }
        .tiles b { display: block; font-size: 16px; font-variant-numeric: tabular-nums; }
        .tiles span { color: var(--soft); font-size: 12px; }
        .tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding-top: 8px; }
        .tools input, .tools select { font: inherit; color: inherit; background: var(--page);
          border: 1px solid var(--line); border-radius: 6px; padding: 5px 8px; }
        .tools input { flex: 1 1 220px; min-width: 0; }
        .legend { display: flex; flex-wrap: wrap; gap: 10px; color: var(--soft); font-size: 12px; }
        .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 4px; }
        details.hosts { padding-top: 8px; }
        .hosts tbody th { color: inherit; font-weight: 400; }
        .hosts > div { max-height: 30vh; overflow: auto; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        :focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
        th, td { text-align: left; padding: 3px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
        th { color: var(--soft); font-weight: 600; }
        td.n, th.n { text-align: right; white-space: nowrap; }
        main { flex: 1; min-height: 0; display: flex; }
        #pane { flex: 1 1 60%; min-width: 0; position: relative; }
        #list { position: absolute; inset: 0; overflow: auto; container-type: inline-size; }
        #space { position: relative; --row: 34px; }
        #head { position: sticky; top: 0; z-index: 1; background: var(--page); color: var(--soft); font-size: 12px; }
        #head > div, .row { display: grid; align-items: center; gap: 8px; padding: 0 16px; border-bottom: 1px solid var(--line);
          grid-template-columns: 72px 60px minmax(0, 1.2fr) 76px minmax(0, 1fr); }
        #head > div { height: 28px; }
        .row { position: absolute; left: 0; right: 0; height: var(--row); cursor: pointer; }
        .row:hover { background: var(--tile); }
        .row[aria-expanded="true"] { background: var(--pick); }
        .row:focus-visible { outline-offset: -2px; }
        .what { display: flex; align-items: center; min-width: 0; }
        .row .url { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .row .host { color: var(--soft); } .mark { flex: none; }
        .took { text-align: right; font-variant-numeric: tabular-nums; color: var(--soft); }
        .row .method { font-size: 12px; color: var(--soft); overflow: hidden; text-overflow: ellipsis; }
        .status { font-weight: 600; font-variant-numeric: tabular-nums; }
        .bad { color: var(--bad); } .good { color: var(--good); } .warn { color: var(--warn); }
        .mark { font-size: 11px; border: 1px solid var(--line); border-radius: 4px; padding: 0 4px; margin-left: 6px;
          color: var(--soft); }
        .bar { position: relative; height: 14px; }
        .bar i { position: absolute; top: 2px; height: 10px; min-width: 2px; border-radius: 2px; }
        .bar i.failed { top: 13px; height: 2px; background: var(--bad); border-radius: 0; }
        .blocked { background: var(--blocked); } .dns { background: var(--dns); } .connect { background: var(--connect); }
        .ssl { background: var(--ssl); } .wait { background: var(--wait); } .receive { background: var(--receive); }
        .cache { background: var(--cache); }
        #detail { flex: 1 1 40%; min-width: 0; overflow: auto; border-left: 1px solid var(--line); padding: 8px 16px 24px; }
        #detail[hidden] { display: none; }
        #detail .url, pre { overflow-wrap: anywhere; white-space: pre-wrap; }
        pre { background: var(--tile); border-radius: 6px; padding: 8px; max-height: 40vh; overflow: auto; }
        #detail th { white-space: nowrap; font-weight: 400; }
        #detail td { overflow-wrap: anywhere; }
        .top { display: flex; justify-content: space-between; gap: 8px; align-items: start; }
        button { font: inherit; color: inherit; background: var(--tile); border: 1px solid var(--line); border-radius: 6px;
          padding: 4px 10px; cursor: pointer; }
        #empty { position: absolute; inset: 0; margin: 0; pointer-events: none; padding: 32px; text-align: center; color: var(--soft); }
        #detail > .bar { height: 16px; margin: 6px 0; }
        @container (max-width: 560px) {
          #head > div, .row { grid-template-columns: 64px minmax(0, 1fr) 64px 64px; padding: 0 10px; }
          #head > div > :nth-child(2), .method, .row .host { display: none; }
        }
        @media (max-width: 720px) {
          header { padding: 8px 10px; }
          .tiles li { padding: 3px 8px; } .tiles b { font-size: 14px; } .legend { display: none; }
          #detail { position: fixed; inset: 12% 0 0; background: var(--page); border: 0;
            border-top: 2px solid var(--line); box-shadow: 0 -8px 24px #0006; }
        }
        """
}
