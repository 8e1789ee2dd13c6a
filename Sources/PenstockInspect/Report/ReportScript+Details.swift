extension ReportScript {
    /// What is known of one call.
    static let details = #"""
        const detail = byId('detail');
        const button = (text, action) => {
          const node = make('button', '', text);
          node.type = 'button';
          node.addEventListener('click', action);
          return node;
        };
        /* Values are texts or nodes. */
        const table = (pairs) => {
          const node = make('table');
          for (const [name, value] of pairs) {
            const row = make('tr');
            const head = make('th', '', name);
            head.scope = 'row';
            const cell = make('td', '', value instanceof Node ? undefined : value);
            if (value instanceof Node) cell.append(value);
            row.append(head, cell);
            node.append(row);
          }
          return node;
        };
        const folded = (parent, title, content, isOpen) => {
          const node = make('details');
          node.open = isOpen;
          node.append(make('summary', '', title), content);
          parent.append(node);
        };

        const SOURCES = new Map([['network', 'the server'], ['memory', 'the cache, in memory'], ['disk', 'the cache, on disk'],
          ['revalidated', 'the cache, after the server said that it is current'], ['interceptor', 'an interceptor']]);
        const SENT = new Map([['unsent', 'not sent'], ['unprocessed', 'sent; the server said that it did not process it'],
          ['maybeProcessed', 'sent, and perhaps processed'], ['answered', 'sent, and answered']]);
        const factsOf = (call) => {
          const own = call.own;
          const facts = [['outcome', call.outcome === 'failure' ? 'failed' : call.outcome], ['took', span(call.took)]];
          if (!own) return facts;
          if (own.error) facts.splice(1, 0, ['because', own.error]);
          if (own.source) {
            facts.push(['answered by', (SOURCES.get(own.source) || own.source) + (own.isStale ? ', stale' : '')
              + (own.isJoined ? ', through another call' : '')]);
          }
          facts.push(['call', own.number + ', ' + own.endpoint + ' of ' + own.service + ' in ' + own.environment]);
          return facts;
        };
        /* A program that runs anew counts its calls anew: the one nearest in time is meant. */
        const nearest = (number, call) => calls.filter((other) => other.number === number && other !== call)
          .reduce((best, other) => (best && Math.abs(best.start - call.start) <= Math.abs(other.start - call.start) ? best : other), undefined);
        const decisionOf = (decision, call) => {
          const other = /^joined call (\d+)$/.exec(decision.text);
          const joined = other && nearest(Number(other[1]), call);
          if (!joined) return decision.text;
          const node = make('span', '', decision.text + ' ');
          node.append(button('Show it', () => reveal(joined)));
          return node;
        };

        /* The attempts one below the other, by the clock of the call. */
        const course = (call) => {
          const node = make('div', 'course');
          const ticks = make('div', 'ticks');
          ticks.setAttribute('aria-hidden', 'true');
          const length = Math.max(call.took, ...call.entries.map((entry) => startOf(call, entry) - call.start + positive(entry.time)), 0.001);
          const width = Math.max(detail.clientWidth, 300) - 160;
          drawTicks(ticks, ticksOf(0, length, width), width);
          node.append(make('span', '', 'attempt'), ticks);
          call.entries.forEach((entry, index) => {
            const bar = make('div', 'bar');
            fill(bar, piecesOfEntry(entry, startOf(call, entry), isCancelled(call, entry)), call.start, length);
            node.append(make('span', '', (index + 1) + ': ' + (entry.response.status || 'no answer')), bar);
          });
          return node;
        };
        const phases = (entry) => {
          const node = table(phasesOf(entry).filter(([, duration]) => duration > 0).map(([name, duration]) => {
            const label = make('span', '', span(duration));
            label.prepend(make('i', name));
            return [PHASES.find((phase) => phase[0] === name)[1], label];
          }));
          node.className = 'phases';
          return node;
        };
        const MOST_TEXT = 100000;
        const content = (text) => {
          const node = make('pre', '', text.slice(0, MOST_TEXT));
          if (text.length > MOST_TEXT) {
            node.append(button('Show all ' + text.length + ' characters', () => { node.textContent = seen(text); detail.focus(); }));
          }
          return node;
        };
        const wireOf = (entry) => {
          const [own, body] = [entry._call, entry.response.content || {}];
          const facts = [['answer', entry.response.status ? entry.response.status + ' by ' + entry.response.httpVersion : 'none']];
          if (own && own.attemptError) facts.push(['failed of', own.attemptError]);
          if (own && own.sendState) facts.push(['request', SENT.get(own.sendState) || own.sendState]);
          facts.push(['sent', size(entry.request.bodySize === undefined ? -1 : entry.request.bodySize)]);
          const received = entry.response.bodySize === undefined ? -1 : entry.response.bodySize;
          facts.push(['received', size(received) + (body.compression ? ', decoded ' + size(body.size) : '')
            + (body.mimeType && body.mimeType !== 'x-unknown' ? ', ' + body.mimeType : '')]);
          if (entry.serverIPAddress) facts.push(['server', entry.serverIPAddress + (own && own.isReused ? ', connection used before' : '')]);
          if (own && own.resends) facts.push(['sent again', own.resends + ' times by the transport itself']);
          return facts;
        };
        /* An earlier attempt has its fields folded away. */
        const entryDetail = (parent, entry, index, count) => {
          const last = index === count - 1;
          const sent = entry._call ? entry._call.attempt > 0 : true;
          if (count > 1) parent.append(make('h3', '', 'Attempt ' + (index + 1) + ' of ' + count));
          if (sent) parent.append(table(wireOf(entry)), phases(entry));
          for (const [title, pairs] of [['Query', entry.request.queryString], ['Request fields', entry.request.headers],
            ['Response fields', entry.response.headers]]) {
            const list = (pairs || []).map((pair) => [pair.name, pair.value]);
            if (list.length) folded(parent, title + ' (' + list.length + ')', table(list), last);
          }
          const [posted, body] = [entry.request.postData, entry.response.content || {}];
          if (posted && (posted.text || posted.comment)) folded(parent, 'Sent content, ' + posted.mimeType, content(posted.text || posted.comment), last);
          if (body.text) folded(parent, 'Received content' + (body.encoding ? ', as ' + body.encoding : ''), content(body.text), last);
        };
        const show = (call) => {
          const top = make('div', 'top');
          const title = make('h2', 'url', call.method === 'NONE' ? call.path : call.method + ' ' + readable(call.url));
          title.id = 'detailtitle';
          top.append(title, button('Close', hide));
          detail.hidden = false;
          detail.replaceChildren(top, table(factsOf(call)));
          if (call.decisions.length) {
            detail.append(make('h3', '', 'What was decided'),
              table(call.decisions.map((decision) => [span(decision.at), decisionOf(decision, call)])));
          }
          if (call.attempts) detail.append(make('h3', '', 'Time since the call began'), course(call));
          call.entries.forEach((entry, index) => entryDetail(detail, entry, index, call.entries.length));
          detail.scrollTop = 0;
        };
        """#
}
