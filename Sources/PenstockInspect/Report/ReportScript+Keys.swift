extension ReportScript {
    /// Moving about, by keyboard and pointer; and the beginning.
    static let keys = #"""
        /* Moves the keyboard to a row, and the open details with it. */
        const go = (index) => {
          if (!shown.length) return;
          active = Math.min(Math.max(index, 0), shown.length - 1);
          const height = heightOf();
          const [top, room] = [active * height, roomOf()];
          if (top < list.scrollTop) list.scrollTop = top;
          if (top + height > list.scrollTop + room) list.scrollTop = top + height - room;
          draw();
          rows.get(active).focus({ preventScroll: true });
          if (opened && opened !== shown[active]) open();
        };
        /* Opens the details of the row that has the keyboard. */
        const open = () => {
          if (active >= shown.length || opened === shown[active]) return;
          opened = shown[active];
          show(opened);
          draw();
        };
        /* Where the details are open, the keyboard goes into them. */
        const enter = () => { if (opened && opened === shown[active]) detail.focus(); else open(); };
        /* Opens the details of a call wherever it is, if need be without the filter. */
        const reveal = (call) => {
          if (!shown.includes(call)) {
            byId('filter').value = '';
            byId('kind').value = 'all';
            filter();
          }
          go(shown.indexOf(call));
          open();
        };
        const hide = () => {
          const hadKeyboard = detail.contains(document.activeElement) || document.activeElement === document.body;
          opened = null;
          detail.hidden = true;
          draw();
          if (hadKeyboard) go(active);
        };

        const KINDS = { all: () => true, failed: (call) => call.outcome === 'failure', retried: (call) => call.attempts > 1,
          cached: (call) => call.isCached, stale: (call) => call.isStale };
        const filter = () => {
          const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
          const kind = KINDS[byId('kind').value] || KINDS.all;
          shown = calls.filter((call) => kind(call) && words.every((word) => call.words.includes(word)));
          if (opened && !shown.includes(opened)) { opened = null; detail.hidden = true; }
          active = Math.max(0, shown.indexOf(opened));
          list.scrollTop = 0;
          redraw();
        };

        const ROW_KEYS = { ArrowDown: () => go(active + 1), ArrowUp: () => go(active - 1), j: () => go(active + 1), k: () => go(active - 1),
          PageDown: () => go(active + pageOf()), PageUp: () => go(active - pageOf()), Home: () => go(0), End: () => go(shown.length - 1),
          Enter: enter, ' ': enter, ArrowRight: enter, ArrowLeft: () => { if (opened) hide(); } };
        const pageOf = () => Math.max(1, Math.floor(roomOf() / heightOf()) - 1);
        /* From nowhere in particular the first key comes to the list. */
        const PAGE_KEYS = { ArrowDown: () => go(active), ArrowUp: () => go(active), PageDown: () => go(active + pageOf()),
          PageUp: () => go(active - pageOf()), Home: () => go(0), End: () => go(shown.length - 1) };
        const FILTER_KEYS = { ArrowDown: () => go(active), Enter: () => go(active) };
        const escape = (target) => {
          if (target.id !== 'filter') { if (opened) hide(); return; }
          if (!target.value) { go(active); return; }
          target.value = '';
          filter();
        };
        const actionOf = (target, key) => {
          if (key === 'Escape') return () => escape(target);
          if (target.id === 'filter') return FILTER_KEYS[key];
          if (target.matches('select')) return undefined;
          if (key === '/') return () => { byId('filter').focus(); byId('filter').select(); };
          if (list.contains(target)) return ROW_KEYS[key];
          return target === document.body ? PAGE_KEYS[key] : undefined;
        };
        const pressed = (event) => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
          const action = actionOf(event.target instanceof Element ? event.target : document.body, event.key);
          if (!action) return;
          event.preventDefault();
          action();
        };

        /* Calls that lie far apart would be dots on an axis that they share. */
        const LEAST_SHARE = 0.02;
        const areFarApart = () => {
          const busy = calls.reduce((sum, call) => sum + call.took, 0);
          const until = calls.reduce((last, call) => Math.max(last, call.start + call.took), 0);
          return calls.length > 1 && busy < LEAST_SHARE * (until - calls[0].start);
        };
        const begin = () => {
          if (calls.length) finish(calls[calls.length - 1]);
          calls.sort((a, b) => a.start - b.start);
          if (areFarApart()) byId('scale').value = 'own';
          totals();
          legend();
          redraw();
          document.addEventListener('keydown', pressed);
          byId('filter').addEventListener('input', filter);
          byId('kind').addEventListener('change', filter);
          byId('scale').addEventListener('change', draw);
          list.addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
          new ResizeObserver(resized).observe(list);
          document.documentElement.dataset.ready = String(calls.length);
        };
        /* Parts are read for so many milliseconds at a time, so that a long archive does not stop the browser. */
        const SLICE = 30;
        const parts = [...document.querySelectorAll('script.data')];
        const read = () => {
          const until = performance.now() + SLICE;
          while (parts.length && performance.now() < until) {
            const part = parts.shift();
            for (const entry of JSON.parse(part.textContent)) add(entry);
            part.remove();
          }
          if (!parts.length) { begin(); return; }
          count.textContent = 'reading, ' + calls.length + ' calls so far';
          setTimeout(read, 0);
        };
        read();
        """#
}
