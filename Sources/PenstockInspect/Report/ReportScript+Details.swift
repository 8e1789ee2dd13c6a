extension ReportScript {
    /// What is known of one call.
    static let details = #"""
        const detail = byId('detail');
        const table = (pairs) => {
          const node = make('table');
          for (const [name, value] of pairs) {
            const row = make('tr');
            const head = make('th', '', name);
            head.scope = 'row';
            row.append(head, make('td', '', value));
            node.append(row);
          }
          return node;
        };
        const section = (parent, title, pairs) => {
          if (!pairs.length) return;
          parent.append(make('h3', '', title), table(pairs));
        };
        const named = (pairs) => (pairs || []).map((pair) => [pair.name, pair.value]);
        const entryDetail = (parent, entry, index, count) => {
          const own = entry._call;
          if (count > 1) parent.append(make('h2', '', 'Attempt ' + (index + 1) + ' of ' + count));
          const facts = [['answer', entry.response.status ? entry.response.status + ' ' + entry.response.httpVersion : 'none']];
          if (own && own.attemptError) facts.push(['failed of', own.attemptError]);
          if (own && own.sendState) facts.push(['the request was', own.sendState]);
          if (entry.serverIPAddress) facts.push(['server', entry.serverIPAddress + (own && own.isReused ? ', connection used before' : '')]);
          facts.push(['sent', size(entry.request.bodySize === undefined ? -1 : entry.request.bodySize)]);
          const content = entry.response.content || {};
          facts.push(['received', size(entry.response.bodySize === undefined ? -1 : entry.response.bodySize)
            + (content.compression ? ', ' + size(content.size) + ' without its codings' : '')]);
          parent.append(table(facts));
          const start = Date.parse(entry.startedDateTime) || 0;
          const bar = make('div', 'bar');
          fill(bar, own && !own.attempt ? [['none', start, entry.time]] : piecesOfEntry(entry, start, false), start, Math.max(positive(entry.time), 0.001));
          parent.append(bar);
          const phases = phasesOf(entry).filter(([, duration]) => duration > 0);
          if (own ? own.attempt > 0 : true) section(parent, 'Phases', phases.map(([name, duration]) => [PHASES.find((phase) => phase[0] === name)[1], span(duration)]));
          section(parent, 'Query', named(entry.request.queryString));
          section(parent, 'Request fields', named(entry.request.headers));
          section(parent, 'Response fields', named(entry.response.headers));
          if (entry.request.postData && entry.request.postData.text) parent.append(make('h3', '', 'Sent content'), make('pre', '', entry.request.postData.text));
          if (content.text) parent.append(make('h3', '', 'Received content'), make('pre', '', content.text));
        };
        const show = (call) => {
          const top = make('div', 'top');
          const title = make('h2', 'url', call.method + ' ' + readable(call.url));
          title.id = 'detailtitle';
          const close = make('button', '', 'Close');
          close.type = 'button';
          close.addEventListener('click', hide);
          top.append(title, close);
          const own = call.own;
          const facts = [['outcome', call.outcome === 'failure' ? 'failed' : call.outcome], ['took', span(call.took)]];
          if (own) {
            facts.unshift(['call', own.number + ', ' + own.endpoint + ' of ' + own.service + ' in ' + own.environment]);
            if (own.error) facts.push(['because', own.error]);
            if (own.source) facts.push(['answered by', own.source + (own.isStale ? ', stale' : '') + (own.isJoined ? ', of another call' : '')]);
          }
          detail.replaceChildren(top, table(facts));
          section(detail, 'What was decided', call.decisions.map((decision) => [span(decision.at), decision.text]));
          call.entries.forEach((entry, index) => entryDetail(detail, entry, index, call.entries.length));
          detail.hidden = false;
          detail.scrollTop = 0;
        };
        """#
}
