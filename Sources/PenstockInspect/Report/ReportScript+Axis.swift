extension ReportScript {
    /// The scale that bars are drawn to, with its ticks.
    static let axis = #"""
        /* Between ten seconds and a day, ticks stand at what divides minutes and hours; below and above at 1, 2 and 5. */
        const [SECOND, MINUTE, HOUR, DAY] = [1000, 60000, 3600000, 86400000];
        const CLOCK_STEPS = [10 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE,
          30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY];
        const stepOf = (wish) => {
          if (wish > 5 * SECOND && wish <= DAY) return CLOCK_STEPS.find((step) => step >= wish);
          const unit = wish > DAY ? DAY : 1;
          const power = unit * 10 ** Math.floor(Math.log10(wish / unit));
          return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wish * (1 - 1e-9));
        };
        const rounded = (number, step) => number.toFixed(Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
        /* A moment, as exact as the steps are, in the unit that suits the last moment of the axis. */
        const momentOf = (ms, step, until) => {
          if (!ms) return until < SECOND ? '0 ms' : '0 s';
          if (until < SECOND) return rounded(ms, step) + ' ms';
          if (until < MINUTE) return rounded(ms / SECOND, step / SECOND) + ' s';
          const parts = [];
          let rest = Math.round(ms / Math.min(step, SECOND)) * Math.min(step, SECOND);
          for (const [length, name] of [[DAY, 'd'], [HOUR, 'h'], [MINUTE, 'min']]) {
            if (rest >= length) parts.push(Math.floor(rest / length) + ' ' + name);
            rest %= length;
          }
          if (rest > 0) parts.push(rounded(rest / SECOND, Math.min(step, SECOND) / SECOND) + ' s');
          return parts.join(' ');
        };
        /* Where ticks stand between two moments, so far apart at least that what they say has room. */
        const TICK_WIDTH = 72;
        const ticksOf = (from, length, width) => {
          const step = stepOf(length * Math.min(1, TICK_WIDTH / width));
          const first = Math.ceil(from / step - 1e-9);
          /* Moments so far away that a step is nothing to them have no ticks. */
          const number = Number.isSafeInteger(first) ? Math.floor((from + length) / step + 1e-9) - first + 1 : 0;
          return Array.from({ length: Math.max(0, number) }, (_, index) => {
            const at = (first + index) * step;
            return { at: (at - from) / length, label: momentOf(at, step, from + length) };
          });
        };
        /* Draws ticks into a node as wide as the bars. A label that would stand out at the right is left out. */
        const LETTER_WIDTH = 6.5;
        const drawTicks = (node, ticks, width) => {
          node.replaceChildren(...ticks.map(({ at, label }) => {
            const fits = at * width + label.length * LETTER_WIDTH < width;
            const tick = make('i', 'tick', fits ? label : '');
            tick.style.left = 100 * at + '%';
            return tick;
          }));
        };
        """#
}
