// The front over generations, and every working variant in the order in which it was tried.

// Where the search goes by a model: what a clock says of variants, each beside the model's dot, and the front of those.
function clockMarks(data, names, { x, index, place }) {
  const g = s('g', { class: 'clock' });
  const found = names
    .map((name) => index.get(idNumber(name)))
    .filter((n) => clockOf(data, n) && place(n, true) && clockOf(data, n).value <= x.domain[1])
    .map((n) => ({ ...clockOf(data, n), at: place(n, true), error: data.points.error[n] }))
    .sort((a, b) => a.value - b.value);
  const best = found.filter((one, n) => found.slice(0, n).every((other) => other.error > one.error));
  if (best.length > 1)
    g.append(s('path', { d: path(steps(best.map((one) => [x(one.value), one.at[1]]))), class: 'clockline' }));
  for (const { value, low, high, at } of found) {
    const [cx, cy] = [x(value), at[1]];
    g.append(
      s('line', { x1: at[0], x2: cx, y1: cy, y2: cy, class: 'tie' }),
      s('line', { x1: x(low), x2: x(Math.min(high, x.domain[1])), y1: cy, y2: cy, class: 'bar' }),
      s('path', { d: `M${cx - 6} ${cy}L${cx} ${cy - 6}L${cx + 6} ${cy}L${cx} ${cy + 6}Z`, class: 'diamond' }),
    );
  }
  return g;
}

function frontChart(data) {
  const caption = h('span', { class: 'step' }),
    kind = isModelled(data) ? ' by the model' : '';
  const plot = figure(
    'Time and error',
    (width) => {
      const p = data.points,
        rounding = data.run.rounding;
      const last = data.history.generation.length - 1;
      const position = state.generation === null ? last : Math.min(state.generation, last);
      if (last < 0) return h('p', { class: 'empty' }, 'Nothing has been judged yet.');
      const now = data.history.generation[position];
      const inexact = p.error.filter((e) => e > rounding),
        someExact = inexact.length < p.error.length;
      const strip = someExact ? (inexact.length ? 74 : 264) : 0,
        height = inexact.length ? 430 : 340;
      const { x, y, middle, background } = plane(width, {
        times: ratioDomain(data),
        errors: inexact,
        exact: someExact,
        strip,
        height,
      });
      const place = (n, flat) => {
        const ratio = ratioOf(data, n);
        if (ratio > x.domain[1]) return null;
        if (p.error[n] > rounding) return [x(ratio), y(p.error[n])];
        return [x(ratio), flat ? middle : middle + (scatter01(p.id[n]) - 0.5) * (strip - 16)];
      };
      let beyond = 0,
        shown = 0;
      for (let n = 0; n < p.id.length; n++)
        if (p.generation[n] <= now) {
          shown++;
          if (ratioOf(data, n) > x.domain[1]) beyond++;
        }
      const names = position === last ? data.front.map((entry) => entry.id) : frontAt(data, position);
      const index = indexOf(data);
      // Only dots of one kind of time are joined, in the order of that time.
      const stair = (list) => {
        const all = list.map((name) => index.get(idNumber(name))).filter((n) => n !== undefined);
        all.sort((a, b) => ratioOf(data, a) - ratioOf(data, b) || p.error[a] - p.error[b]);
        // What was measured is shown even where a candidate hides it, beside the line.
        const best = all.filter((n, k) => all.slice(0, k).every((other) => p.error[other] > p.error[n]));
        return steps(best.map((n) => place(n, true)).filter(Boolean));
      };
      caption.textContent =
        `generation ${Math.max(0, now + 1)} of ${Math.max(0, data.history.generation[last] + 1)}: ${plural(shown - 1, 'working variant')}` +
        (beyond ? `, ${count(beyond)} slower than the right edge` : '');
      return cloud(data, {
        width,
        height,
        place,
        visible: (n) => p.generation[n] <= now,
        alt: 'Front: time ratio against error',
        overlay: () => {
          const g = background();
          const ghosts = [];
          for (let n = 0; n < position; n++) if (data.history.front[n]) ghosts.push(n);
          ghosts.slice(-9, -1).forEach((n, k, all) => {
            const d = path(stair(frontAt(data, n)));
            if (d) g.append(s('path', { d, class: 'ghost', opacity: 0.12 + (0.4 * k) / all.length }));
          });
          const line = stair(names);
          if (line.length > 1) g.append(s('path', { d: path(line), class: 'frontline' }));
          const rest =
            position === last
              ? Object.keys(data.checks).filter((name) => isStruck(data, name) && index.has(idNumber(name)))
              : [];
          const extra =
            state.selected &&
            !names.includes(state.selected) &&
            !rest.includes(state.selected) &&
            index.has(idNumber(state.selected))
              ? [state.selected]
              : [];
          for (const name of [...rest, ...extra, ...[...names].reverse()]) {
            const onFront = names.includes(name),
              at = place(index.get(idNumber(name)), onFront);
            if (at) g.append(member(data, name, at, { small: !onFront }));
          }
          if (position === last && isModelled(data)) g.append(clockMarks(data, names, { x, index, place }));
          return g;
        },
      });
    },
    {
      legend: legend([
        { name: `front${kind}, passed all checks`, class: 'validated' },
        { name: `front${kind}, not validated yet`, class: 'open' },
        ...(isModelled(data) ? [{ name: 'the same by the clock, with its interval', class: 'clock' }] : []),
        { name: 'struck: failed on other inputs', class: 'struck' },
        { name: 'other working variants', class: 'faint' },
      ]),
    },
  );
  return { plot, caption };
}

function slider(data, redraw, caption) {
  const last = () => data.history.generation.length - 1;
  const range = h('input', {
    type: 'range',
    min: 0,
    max: Math.max(0, last()),
    value: state.generation ?? last(),
    'aria-label': 'generation',
    oninput: () => {
      stop();
      set(Number(range.value));
    },
  });
  const button = h(
    'button',
    {
      type: 'button',
      class: 'play',
      'aria-label': 'play the generations',
      onclick: () => (state.playing ? stop() : play()),
    },
    '▶',
  );
  function set(n) {
    state.generation = n >= last() ? null : n;
    range.value = n;
    redraw();
  }
  function stop() {
    clearInterval(state.playing);
    state.playing = null;
    button.textContent = '▶';
  }
  function play() {
    const span = last(),
      stride = Math.max(1, Math.round(span / 120));
    let n = state.generation === null ? 0 : state.generation;
    button.textContent = '❚❚';
    set(n);
    state.playing = setInterval(
      () => {
        n += stride;
        if (n >= last()) {
          set(last());
          stop();
        } else set(n);
      },
      Math.max(40, 9000 / Math.max(1, span / stride)),
    );
  }
  return h('div', { class: 'slider' }, button, range, caption);
}

function orderChart(data) {
  return figure(
    'Every working variant, as it was tried',
    (width) => {
      const p = data.points,
        left = 52,
        right = 14,
        top = 26,
        bottom = 46,
        height = 260;
      if (!data.history.generation.length) return h('p', { class: 'empty' }, 'Nothing has been judged yet.');
      const box = { left, top, width: width - left - right, height: height - top - bottom };
      const [low, high] = ratioDomain(data);
      const x = linear([0, Math.max(1, data.evaluations)], [left, left + box.width]),
        y = linear([low, high], [top + box.height, top]);
      const place = (n) => (p.ratio[n] > high ? null : [x(p.id[n]), y(p.ratio[n])]);
      return cloud(data, {
        width,
        height,
        place,
        visible: () => true,
        alt: 'Time ratio of every working variant',
        overlay: () => {
          const g = s(
            'g',
            {},
            axis(box, x, y, {
              xTicks: ticks(...x.domain, width / 100).filter(Number.isInteger),
              xFormat: count,
              yTicks: ticks(...y.domain, 5),
              yFormat: (v) => String(+v.toFixed(4)),
              xLabel: 'evaluations',
              yLabel: 'time, relative to the unedited program',
            }),
          );
          g.append(s('line', { x1: left, x2: left + box.width, y1: y(1), y2: y(1), class: 'unedited' }));
          const order = p.id.map((id, n) => n).sort((a, b) => p.id[a] - p.id[b]);
          let least = Infinity;
          const best = [];
          for (const n of order)
            if (p.ratio[n] < least && !isStruck(data, 'v' + p.id[n])) {
              least = p.ratio[n];
              best.push(n);
            }
          const line = best.map((n) => [x(p.id[n]), y(p.ratio[n])]);
          if (line.length) line.push([x(Math.max(data.evaluations, p.id[best.at(-1)])), line.at(-1)[1]]);
          g.append(s('path', { d: path(steps(line)), class: 'line', style: { stroke: 'var(--accent)' } }));
          return g;
        },
      });
    },
    { note: 'the line is the fastest so far on the search cases' },
  );
}
