/// What the report does. Everything that comes from the archive goes into the page as text, never as markup.
enum ReportScript {
    static let text = #"""
        'use strict';
        const har = JSON.parse(document.getElementById('data').textContent);
        const HEIGHT = 34;
        const PHASES = [['blocked', 'waiting for a connection'], ['dns', 'name look-up'], ['connect', 'connecting'],
          ['ssl', 'TLS'], ['wait', 'waiting for the response'], ['receive', 'receiving']];
        const byId = (id) => document.getElementById(id);
        const make = (tag, className, text) => {
          const node = document.createElement(tag);
          if (className) node.className = className;
          if (text !== undefined) node.textContent = text;
          return node;
        };
        const positive = (number) => (typeof number === 'number' && number > 0 ? number : 0);
        const span = (ms) => (ms < 10 ? ms.toFixed(2) + ' ms' : ms < 10000 ? ms.toFixed(0) + ' ms' : (ms / 1000).toFixed(1) + ' s');
        const size = (bytes) => (bytes < 0 ? 'unknown' : bytes < 10000 ? bytes + ' B'
          : bytes < 1e7 ? (bytes / 1000).toFixed(0) + ' kB' : (bytes / 1e6).toFixed(1) + ' MB');
        const readable = (text) => { try { return decodeURI(text); } catch { return text; } };
        const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(1).replace(/\.0$/, '') + ' %' : '–');

        /* The phases of an entry, one after the other. Connecting includes TLS in the format, and is shown without it. */
        const phasesOf = (entry) => {
          const t = entry.timings || {};
          const ssl = positive(t.ssl);
          const lengths = { blocked: positive(t.blocked), dns: positive(t.dns), connect: Math.max(0, positive(t.connect) - ssl),
            ssl, wait: positive(t.send) + positive(t.wait), receive: positive(t.receive) };
          return PHASES.map(([name]) => [name, lengths[name]]);
        };

        /* Entries that follow each other and are attempts of one call become that call. */
        const callsOf = (entries) => {
          const calls = [];
          let last = null;
          for (const entry of entries) {
            const own = entry._call;
            const start = Date.parse(entry.startedDateTime) || 0;
            if (own && last && last.number === own.number && own.attempt === last.attempt + 1) {
              last.entries.push(entry);
              last.attempt = own.attempt;
              continue;
            }
            last = { number: own ? own.number : undefined, attempt: own ? own.attempt : 0, entries: [entry],
              start: own ? start - positive(own.offset) : start, own };
            calls.push(last);
          }
          for (const call of calls) finish(call);
          calls.sort((a, b) => a.start - b.start);
          return calls;
        };
        const finish = (call) => {
          const end = call.entries[call.entries.length - 1];
          const own = end._call;
          call.own = own;
          call.end = end;
          call.method = end.request.method;
          call.url = end.request.url;
          const sent = own ? own.attempt > 0 : true;
          const parts = /^[a-z]+:\/\/([^\/?#]*)(.*)$/i.exec(call.url);
          call.host = parts ? parts[1] : '(nothing sent)';
          call.path = parts ? parts[2] || '/' : own ? own.endpoint : call.url;
          call.status = end.response.status;
          call.took = own ? own.elapsed : end.time;
          call.attempts = sent ? call.entries.length : 0;
          call.isCached = Boolean(own && ['memory', 'disk', 'revalidated'].includes(own.source));
          call.outcome = own ? own.outcome : call.status >= 400 || call.status === 0 ? 'failure' : 'success';
          call.decisions = (own && own.decisions) || [];
          call.bytes = call.entries.reduce((sum, entry) => sum + positive(entry.response.bodySize), 0);
          call.words = [call.method, call.url, call.status, own ? own.endpoint + ' ' + (own.error || '') + ' ' + (own.source || '') : '',
            call.decisions.map((decision) => decision.text).join(' ')].join(' ').toLowerCase();
        };

        const calls = callsOf(har.log.entries);
        let shown = calls;
        let picked = -1;

        /* The first look: totals. */
        const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
        const tile = (value, label, className) => {
          const item = make('li');
          item.append(make('b', className, value), make('span', '', label));
          return item;
        };
        const retried = (call) => call.attempts > 1 && call.decisions.some((decision) => decision.text.startsWith('retried'));
        const totals = () => {
          const failed = calls.filter((call) => call.outcome === 'failure').length;
          const times = calls.map((call) => call.took).sort((a, b) => a - b);
          byId('tiles').append(tile(String(calls.length), 'calls'), tile(String(failed), 'failed', failed ? 'bad' : ''),
            tile(percent(calls.filter(retried).length, calls.length), 'retried'),
            tile(percent(calls.filter((call) => call.isCached).length, calls.length), 'from the cache'),
            tile(size(calls.reduce((sum, call) => sum + call.bytes, 0)), 'received'));
          if (times.length) byId('tiles').append(tile(span(quantile(times, 0.5)), 'median'), tile(span(quantile(times, 0.95)), '95th percentile'));
          const hosts = new Map();
          for (const call of calls) {
            const host = hosts.get(call.host) || { calls: 0, failed: 0, attempts: 0, retried: 0, cached: 0, bytes: 0, times: [] };
            host.calls += 1;
            host.failed += call.outcome === 'failure' ? 1 : 0;
            host.attempts += call.attempts;
            host.retried += retried(call) ? 1 : 0;
            host.cached += call.isCached ? 1 : 0;
            host.bytes += call.bytes;
            host.times.push(call.took);
            hosts.set(call.host, host);
          }
          for (const [name, host] of [...hosts].sort((a, b) => b[1].calls - a[1].calls)) {
            host.times.sort((a, b) => a - b);
            const row = make('tr');
            row.append(make('td', '', name));
            for (const text of [host.calls, host.failed, host.attempts, percent(host.retried, host.calls),
              percent(host.cached, host.calls), size(host.bytes), span(quantile(host.times, 0.5)), span(quantile(host.times, 0.95))]) {
              row.append(make('td', 'n', String(text)));
            }
            byId('hosts').append(row);
          }
          for (const [name, label] of [...PHASES, ['cache', 'nothing sent']]) {
            const item = make('span');
            item.append(make('i', name), label);
            byId('legend').append(item);
          }
        };

        /* The list: only the rows in sight are in the page. */
        const list = byId('list');
        const space = byId('space');
        const state = (call) => (call.outcome === 'failure' ? 'bad' : call.outcome === 'cancelled' ? 'warn' : 'good');
        const bar = (call, from, length) => {
          const node = make('div', 'bar');
          const place = (className, start, duration) => {
            const piece = make('i', className);
            piece.style.left = 100 * Math.max(0, start - from) / length + '%';
            piece.style.width = Math.max(0, 100 * duration / length) + '%';
            node.append(piece);
          };
          if (!call.attempts) place('cache', call.start, call.took);
          else for (const entry of call.entries) {
            let at = Date.parse(entry.startedDateTime) || 0;
            if (entry._call) at = call.start + positive(entry._call.offset);
            if (entry.response.status === 0 || entry.response.status >= 400) place('failed', at, entry.time);
            for (const [name, duration] of phasesOf(entry)) {
              if (duration > 0) place(name, at, duration);
              at += duration;
            }
          }
          return node;
        };
        const rowOf = (call, index, from, length) => {
          const row = make('div', 'row' + (index === picked ? ' picked' : ''));
          row.id = 'row' + index;
          row.style.top = index * HEIGHT + 'px';
          row.setAttribute('role', 'option');
          row.setAttribute('aria-selected', String(index === picked));
          row.setAttribute('aria-posinset', String(index + 1));
          row.setAttribute('aria-setsize', String(shown.length));
          const url = make('span', 'what');
          const address = make('span', 'url');
          address.append(make('span', 'host', call.host), readable(call.path));
          address.title = call.url;
          url.append(address);
          const mark = (text) => url.append(make('span', 'mark', text));
          if (call.own && call.own.isStale) mark('stale'); else if (call.isCached) mark('cache');
          if (call.own && call.own.isJoined) mark('joined');
          if (call.attempts > 1) mark(call.attempts + ' attempts');
          const status = call.status || (call.outcome === 'cancelled' ? 'end' : 'err');
          row.append(make('span', 'status ' + state(call), String(status)), make('span', 'method', call.method), url,
            make('span', 'took', span(call.took)), bar(call, from, length));
          row.addEventListener('click', () => pick(index, true));
          return row;
        };
        const draw = () => {
          space.style.height = shown.length * HEIGHT + 'px';
          const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 4);
          const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + 4);
          const rows = shown.slice(first, last);
          const from = Math.min(...rows.map((call) => call.start));
          const until = Math.max(...rows.map((call) => call.start + call.took));
          space.replaceChildren(...rows.map((call, index) => rowOf(call, first + index, from, Math.max(until - from, 0.001))));
          if (!shown.length) space.append(make('p', 'empty', calls.length ? 'No call matches.' : 'There are no calls.'));
          if (picked >= 0) list.setAttribute('aria-activedescendant', 'row' + picked);
          byId('count').textContent = shown.length === calls.length ? calls.length + ' calls' : shown.length + ' of ' + calls.length;
        };

        /* The details of one call. */
        const table = (pairs) => {
          const node = make('table');
          for (const [name, value] of pairs) {
            const row = make('tr');
            row.append(make('td', '', name), make('td', '', String(value)));
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
          const box = make('div', 'long');
          const call = { attempts: own && !own.attempt ? 0 : 1, entries: [{ ...entry, _call: undefined }], start: Date.parse(entry.startedDateTime) || 0, took: entry.time };
          box.append(bar(call, call.start, Math.max(entry.time, 0.001)));
          parent.append(box);
          const phases = phasesOf(entry).filter(([, duration]) => duration > 0);
          if (own ? own.attempt > 0 : true) section(parent, 'Phases', phases.map(([name, duration]) => [PHASES.find((phase) => phase[0] === name)[1], span(duration)]));
          section(parent, 'Query', named(entry.request.queryString));
          section(parent, 'Request fields', named(entry.request.headers));
          section(parent, 'Response fields', named(entry.response.headers));
          if (entry.request.postData && entry.request.postData.text) parent.append(make('h3', '', 'Sent content'), make('pre', '', entry.request.postData.text));
          if (content.text) parent.append(make('h3', '', 'Received content'), make('pre', '', content.text));
        };
        const detail = byId('detail');
        const show = (call) => {
          const top = make('div', 'top');
          const title = make('h2', 'url', call.method + ' ' + readable(call.url));
          const close = make('button', '', 'Close');
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
        const hide = () => { detail.hidden = true; list.focus(); draw(); };
        const pick = (index, opens) => {
          if (!shown.length) return;
          picked = Math.min(Math.max(index, 0), shown.length - 1);
          const top = picked * HEIGHT;
          if (top < list.scrollTop) list.scrollTop = top;
          if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
          if (opens || !detail.hidden) show(shown[picked]);
          draw();
        };

        /* Filter and keys. */
        const KINDS = { all: () => true, failed: (call) => call.outcome === 'failure', retried: (call) => call.attempts > 1,
          cached: (call) => call.isCached, stale: (call) => Boolean(call.own && call.own.isStale) };
        const filter = () => {
          const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
          const kind = KINDS[byId('kind').value] || KINDS.all;
          shown = calls.filter((call) => kind(call) && words.every((word) => call.words.includes(word)));
          picked = -1;
          list.scrollTop = 0;
          draw();
        };
        const KEYS = { ArrowDown: () => pick(picked + 1), ArrowUp: () => pick(picked - 1), j: () => pick(picked + 1), k: () => pick(picked - 1),
          PageDown: () => pick(picked + 10), PageUp: () => pick(picked - 10), Home: () => pick(0), End: () => pick(shown.length - 1),
          Enter: () => { if (picked >= 0) show(shown[picked]); } };
        document.addEventListener('keydown', (event) => {
          const types = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
          if (event.key === 'Escape') { if (types) list.focus(); else if (!detail.hidden) hide(); return; }
          if (types || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLButtonElement) return;
          if (event.key === '/') { event.preventDefault(); byId('filter').focus(); return; }
          const action = KEYS[event.key];
          if (action) { event.preventDefault(); action(); }
        });
        byId('filter').addEventListener('input', filter);
        byId('kind').addEventListener('change', filter);
        list.addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
        addEventListener('resize', draw);
        totals();
        draw();
        list.focus();
        document.documentElement.dataset.ready = String(calls.length);
        """#
}
