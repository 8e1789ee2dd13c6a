extension ReportScript {
    /// The list of calls. Only the rows in sight are in the page, and the one that has the keyboard.
    static let waterfall = #"""
        const list = byId('list');
        const head = byId('head');
        const space = byId('space');
        const count = byId('count');
        const BEYOND = 4;
        let shown = calls;
        /* Where the keyboard is, and the call whose details are open, or none. */
        let active = 0;
        let opened = null;
        /* The rows that are in the page, by their place in the list. */
        let rows = new Map();

        const heightOf = () => parseFloat(getComputedStyle(space).getPropertyValue('--row')) || 34;
        const roomOf = () => Math.max(0, list.clientHeight - head.offsetHeight);
        /* What an attempt is drawn of: a name, a start and a length each. What no phase accounts for is drawn as well, and what took
           no time at all. */
        const failed = (entry) => entry.response.status === 0 || entry.response.status >= 400
          || Boolean(entry._call && entry._call.attemptError);
        const piecesOfEntry = (entry, start, isCancelled) => {
          const [pieces, time] = [[], positive(entry.time)];
          let at = start;
          for (const [name, duration] of phasesOf(entry)) {
            if (duration > 0) pieces.push([name, at, duration]);
            at += duration;
          }
          if (!pieces.length || start + time - at > 0.01) pieces.push(['other', at, Math.max(0, start + time - at)]);
          if (isCancelled) pieces.push(['stopped', start, time]);
          else if (failed(entry)) pieces.push(['failed', start, time]);
          return pieces;
        };
        const startOf = (call, entry) => (entry._call ? call.start + positive(entry._call.offset) : call.start);
        const isCancelled = (call, entry) => call.outcome === 'cancelled' && entry === call.entries[call.entries.length - 1];
        const piecesOf = (call) => {
          if (!call.attempts) {
            const sign = call.outcome === 'failure' ? 'failed' : call.outcome === 'cancelled' ? 'stopped' : undefined;
            return ['none', sign].filter(Boolean).map((name) => [name, call.start, call.took]);
          }
          const busy = call.entries.reduce((sum, entry) => sum + positive(entry.time), 0);
          const pieces = call.entries.flatMap((entry) => piecesOfEntry(entry, startOf(call, entry), isCancelled(call, entry)));
          return busy < LEAST_BUSY * call.took ? [['whole', call.start, call.took], ...pieces] : pieces;
        };
        /* A call with less of its time in attempts than this is drawn with the line of its waits. */
        const LEAST_BUSY = 0.97;
        /* A piece of a bar that is shorter than this part of the axis has no gap before it. */
        const LEAST_WIDE = 0.02;
        const fill = (node, pieces, from, length) => {
          node.replaceChildren(...pieces.map(([name, start, duration]) => {
            const piece = make('i', duration > LEAST_WIDE * length ? name + ' wide' : name);
            piece.style.left = 'min(' + 100 * Math.max(0, start - from) / length + '%, 100% - 3px)';
            piece.style.width = 100 * duration / length + '%';
            return piece;
          }));
        };

        const cell = (className, text) => {
          const node = make('span', className, text);
          node.setAttribute('role', 'gridcell');
          return node;
        };
        const whatOf = (call) => {
          const what = cell('what');
          const address = make('span', 'url', readable(call.path));
          address.prepend(make('span', 'host', call.host));
          address.title = seen(call.url);
          what.append(address);
          const mark = (text) => what.append(make('span', 'mark', text));
          if (call.isCached) mark('cache');
          if (call.own && call.own.isJoined) mark(said(call, 'joined')[0] || 'joined');
          if (call.attempts > 1) mark(call.attempts + ' attempts');
          const why = whyOf(call);
          if (why) {
            what.append(make('span', 'why', why));
            what.lastChild.title = seen(why);
          }
          return what;
        };
        const said = (call, beginning) => call.decisions.map((decision) => decision.text).filter((text) => text.startsWith(beginning));
        /* What there is to say of a call that was no plain success. */
        const whyOf = (call) => {
          const retries = said(call, 'retried after').map((text) => text.slice(text.indexOf(': ') + 2).split('; ')[0]);
          const error = call.outcome === 'failure' && call.own ? call.own.error : undefined;
          return error || said(call, 'served stale')[0] || (retries.length ? 'retried: ' + retries.join(', ') : '');
        };
        const rowOf = (call, index) => {
          const row = make('div', 'row');
          row.id = 'row' + index;
          row.setAttribute('role', 'row');
          row.setAttribute('aria-rowindex', String(index + 2));
          row.setAttribute('aria-controls', 'detail');
          const bar = cell('bar');
          bar.setAttribute('aria-label', 'starts at ' + span(call.start - calls[0].start) + ', takes ' + span(call.took));
          row.append(cell('status ' + moodOf(call), standingOf(call)), cell(call.method === 'GET' ? 'method get' : 'method', call.method === 'NONE' ? '–' : call.method),
            whatOf(call), cell('took', span(call.took)), bar);
          row.addEventListener('click', () => { go(index); open(); });
          row.addEventListener('focus', () => { active = index; marks(); });
          return row;
        };
        /* Which row the Tab key comes to, and which one is open. */
        const marks = () => {
          for (const [index, row] of rows) {
            row.tabIndex = index === active ? 0 : -1;
            row.setAttribute('aria-expanded', String(shown[index] === opened));
          }
        };
        /* Rows that stay are left where they are: one that is moved would lose the keyboard. */
        const place = (wanted, height) => {
          for (const [index, row] of rows) if (!wanted.includes(index)) { row.remove(); rows.delete(index); }
          wanted.forEach((index, position) => {
            if (!rows.has(index)) {
              rows.set(index, rowOf(shown[index], index));
              space.insertBefore(rows.get(index), space.children[position] || null);
            }
            rows.get(index).style.top = index * height + 'px';
          });
        };
        const draw = () => {
          const height = heightOf();
          const [top, bottom] = [list.scrollTop / height, (list.scrollTop + roomOf()) / height];
          space.style.height = shown.length * height + 'px';
          const wanted = [];
          const last = Math.min(shown.length, Math.ceil(bottom) + BEYOND);
          for (let index = Math.max(0, Math.floor(top) - BEYOND); index < last; index += 1) wanted.push(index);
          if (active < shown.length && !wanted.includes(active)) wanted.push(active);
          wanted.sort((a, b) => a - b);
          place(wanted, height);
          marks();
          drawBars(shown.slice(Math.floor(top), Math.ceil(bottom)));
        };
        /* Bars are as long as the time is that they share an axis for: that of the calls in sight, of all, or each from its start. */
        const drawBars = (sight) => {
          const scale = byId('scale').value;
          const own = scale === 'own';
          const some = scale === 'all' ? shown : sight;
          const from = own ? 0 : some.reduce((first, call) => Math.min(first, call.start), Infinity);
          const until = some.reduce((last, call) => Math.max(last, call.took + (own ? 0 : call.start)), -Infinity);
          const length = Math.max(until - from, 0.001);
          for (const [index, row] of rows) {
            fill(row.lastChild, piecesOf(shown[index]), own ? shown[index].start : from, length);
          }
          if (some.length) drawAxis(own ? 0 : from - calls[0].start, length, own);
        };
        const drawAxis = (from, length, own) => {
          const width = byId('ticks').clientWidth;
          const ticks = ticksOf(from, length, width);
          drawTicks(byId('ticks'), ticks, width);
          byId('axisname').textContent = own ? 'time since the call began' : 'time since the first call';
          const [first, second] = ticks.map((tick) => tick.at * width);
          space.style.setProperty('--tick', (ticks.length > 1 ? second - first : width + 1) + 'px');
          space.style.setProperty('--firsttick', (ticks.length ? first : -1) + 'px');
        };
        /* Rows that have become higher or lower leave the same ones in sight. */
        let lastHeight = heightOf();
        const resized = () => {
          const height = heightOf();
          if (height !== lastHeight) list.scrollTop *= height / lastHeight;
          lastHeight = height;
          draw();
        };
        /* After another choice of calls: no row is what it was. */
        const redraw = () => {
          rows = new Map();
          space.replaceChildren();
          list.setAttribute('aria-rowcount', String(shown.length + 1));
          byId('empty').hidden = shown.length > 0;
          byId('empty').textContent = calls.length ? 'No call matches.' : 'There are no calls.';
          count.textContent = shown.length === calls.length ? calls.length + ' calls' : shown.length + ' of ' + calls.length;
          draw();
        };
        const legend = () => {
          for (const [name, label] of [...PHASES, ...SIGNS]) {
            const item = make('li', '', label);
            item.prepend(make('i', name));
            byId('legend').append(item);
          }
          byId('legend').append(byId('keys'));
        };
        """#
}
