/// What the report does. Everything that comes from the archive goes into the page as text, never as markup.
enum ReportScript {
    static let text = [reading, totals, axis, waterfall, details, keys].joined(separator: "\n")

    /// The archive, as calls.
    private static let reading = #"""
        'use strict';
        const byId = (id) => document.getElementById(id);
        /* What cannot be seen, or turns the direction of what follows, is written out. */
        const seen = (text) => String(text).replaceAll('\r\n', '\n').replace(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
          (character) => '\\u{' + character.charCodeAt(0).toString(16) + '}');
        const make = (tag, className, text) => {
          const node = document.createElement(tag);
          if (className) node.className = className;
          if (text !== undefined) node.textContent = seen(text);
          return node;
        };
        const positive = (number) => (typeof number === 'number' && number > 0 ? number : 0);
        const span = (ms) => (!ms ? '0 ms' : ms < 10 ? ms.toFixed(2) + ' ms' : ms < 10000 ? ms.toFixed(0) + ' ms' : (ms / 1000).toFixed(1) + ' s');
        const size = (bytes) => (bytes < 0 ? 'unknown' : bytes < 10000 ? bytes + ' B'
          : bytes < 1e7 ? (bytes / 1000).toFixed(0) + ' kB' : (bytes / 1e6).toFixed(1) + ' MB');
        const readable = (text) => { try { return decodeURI(text); } catch { return text; } };
        const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(1).replace(/\.0$/, '') + ' %' : '–');

        const PHASES = [['blocked', 'waiting for a connection'], ['dns', 'name look-up'], ['connect', 'connecting'],
          ['ssl', 'TLS'], ['wait', 'waiting for the response'], ['receive', 'receiving']];
        /* What else bars show. */
        const SIGNS = [['other', 'phase not known'], ['none', 'nothing sent'], ['whole', 'the call with its waits'],
          ['failed', 'attempt failed'], ['stopped', 'cancelled']];
        /* The phases of an entry, one after the other. Connecting includes TLS in the format, and is shown without it. */
        const phasesOf = (entry) => {
          const t = entry.timings || {};
          const ssl = positive(t.ssl);
          const lengths = { blocked: positive(t.blocked), dns: positive(t.dns), connect: Math.max(0, positive(t.connect) - ssl),
            ssl, wait: positive(t.send) + positive(t.wait), receive: positive(t.receive) };
          return PHASES.map(([name]) => [name, lengths[name]]);
        };

        /* Entries that follow each other and are attempts of one call become that call. */
        const calls = [];
        const add = (entry) => {
          const own = entry._call;
          const last = calls[calls.length - 1];
          const date = Date.parse(entry.startedDateTime);
          const start = Number.isFinite(date) ? date : last ? last.start : 0;
          if (own && own.attempt > 1 && last && last.number === own.number && own.attempt === last.attempt + 1) {
            last.entries.push(entry);
            last.attempt = own.attempt;
            return;
          }
          if (last) finish(last);
          calls.push({ number: own ? own.number : undefined, attempt: own ? own.attempt : 0, entries: [entry],
            start: own ? start - positive(own.offset) : start });
        };
        const finish = (call) => {
          const end = call.entries[call.entries.length - 1];
          const own = end._call;
          call.own = own;
          call.method = end.request.method;
          call.url = end.request.url;
          const parts = /^[a-z]+:\/\/([^\/?#]*)(.*)$/i.exec(call.url);
          call.host = parts ? parts[1] : '';
          call.path = parts ? parts[2] || '/' : own ? own.endpoint : call.url;
          /* The status of an answer that broke off is not how the call ended. */
          call.status = own && own.attemptError ? 0 : end.response.status;
          call.took = positive(own ? own.elapsed : end.time);
          call.attempts = own && !own.attempt ? 0 : call.entries.length;
          call.isCached = Boolean(own && ['memory', 'disk', 'revalidated'].includes(own.source));
          call.isStale = Boolean(own && own.isStale);
          call.outcome = own ? own.outcome : call.status >= 400 || call.status === 0 ? 'failure' : 'success';
          call.decisions = (own && own.decisions) || [];
          call.bytes = call.entries.reduce((sum, entry) => sum + positive(entry.response.bodySize), 0);
          call.words = [call.method, call.url, readable(call.url), call.status, standingOf(call),
            own ? own.endpoint + ' ' + (own.error || '') + ' ' + (own.source || '') : '',
            call.decisions.map((decision) => decision.text).join(' ')].join(' ').toLowerCase();
        };
        /* How a call ended, in a word. The status of an answer that a stale one took the place of is none of the call's. */
        const standingOf = (call) => (call.outcome === 'cancelled' ? 'cancelled' : call.isStale ? 'stale'
          : call.status ? String(call.status) : call.outcome === 'failure' ? 'failed' : 'done');
        const moodOf = (call) => (call.outcome === 'failure' ? 'bad'
          : call.outcome === 'cancelled' || call.isStale ? 'warn' : 'good');
        """#

    /// The first look.
    private static let totals = #"""
        const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
        const tile = (value, label, className) => {
          const item = make('li');
          item.append(make('b', className, value), make('span', '', label));
          return item;
        };
        const retried = (call) => call.attempts > 1 && call.decisions.some((decision) => decision.text.startsWith('retried'));
        const hostsOf = () => {
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
          return [...hosts].sort((a, b) => b[1].calls - a[1].calls);
        };
        const MOST_HOSTS = 200;
        const totals = () => {
          const failed = calls.filter((call) => call.outcome === 'failure').length;
          const times = calls.map((call) => call.took).sort((a, b) => a - b);
          byId('tiles').append(tile(String(calls.length), 'calls'), tile(String(failed), 'failed', failed ? 'bad' : ''),
            tile(percent(calls.filter(retried).length, calls.length), 'retried'),
            tile(percent(calls.filter((call) => call.isCached).length, calls.length), 'from the cache'),
            tile(size(calls.reduce((sum, call) => sum + call.bytes, 0)), 'received'));
          if (times.length) byId('tiles').append(tile(span(quantile(times, 0.5)), 'median'), tile(span(quantile(times, 0.95)), '95th percentile'));
          const hosts = hostsOf();
          byId('hostcount').textContent = ' (' + hosts.length + ')';
          for (const [name, host] of hosts.slice(0, MOST_HOSTS)) {
            host.times.sort((a, b) => a - b);
            const row = make('tr');
            const head = make('th', '', name || '(nothing sent)');
            head.scope = 'row';
            row.append(head);
            for (const text of [host.calls, host.failed, host.attempts, percent(host.retried, host.calls),
              percent(host.cached, host.calls), size(host.bytes), span(quantile(host.times, 0.5)), span(quantile(host.times, 0.95))]) {
              row.append(make('td', 'n', text));
            }
            byId('hosts').append(row);
          }
          if (hosts.length > MOST_HOSTS) {
            const row = make('tr');
            row.append(make('td', '', 'and ' + (hosts.length - MOST_HOSTS) + ' more'));
            byId('hosts').append(row);
          }
        };
        """#
}
