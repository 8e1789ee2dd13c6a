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
        /* What a call is drawn of: a name, a start and a length each. */
        const piecesOf = (call) => {
          if (!call.attempts) return [['cache', call.start, call.took]];
          const pieces = [];
          for (const entry of call.entries) {
            let at = Date.parse(entry.startedDateTime) || call.start;
            if (entry._call) at = call.start + positive(entry._call.offset);
            if (entry.response.status === 0 || entry.response.status >= 400) pieces.push(['failed', at, positive(entry.time)]);
            for (const [name, duration] of phasesOf(entry)) {
              if (duration > 0) pieces.push([name, at, duration]);
              at += duration;
            }
          }
          return pieces;
        };
        const fill = (node, pieces, from, length) => {
          node.replaceChildren(...pieces.map(([name, start, duration]) => {
            const piece = make('i', name);
            piece.style.left = 100 * Math.max(0, start - from) / length + '%';
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
          if (call.own && call.own.isJoined) mark('joined');
          if (call.attempts > 1) mark(call.attempts + ' attempts');
          return what;
        };
        const rowOf = (call, index) => {
          const row = make('div', 'row');
          row.id = 'row' + index;
          row.setAttribute('role', 'row');
          row.setAttribute('aria-rowindex', String(index + 2));
          row.setAttribute('aria-controls', 'detail');
          const bar = cell('bar');
          bar.setAttribute('aria-label', 'starts at ' + span(call.start - calls[0].start) + ', takes ' + span(call.took));
          row.append(cell('status ' + moodOf(call), standingOf(call)), cell('method', call.method === 'NONE' ? '–' : call.method),
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
          const sight = shown.slice(Math.floor(top), Math.ceil(bottom));
          const from = Math.min(...sight.map((call) => call.start));
          const until = Math.max(...sight.map((call) => call.start + call.took));
          for (const [index, row] of rows) fill(row.lastChild, piecesOf(shown[index]), from, Math.max(until - from, 0.001));
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
          for (const [name, label] of [...PHASES, ['cache', 'nothing sent']]) {
            const item = make('span', '', label);
            item.prepend(make('i', name));
            byId('legend').append(item);
          }
        };
        """#
}
