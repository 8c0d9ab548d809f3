// Small charts: scales, axes, a tooltip, lines and bars. Each is drawn anew when its width changes.

function linear([a, b], [c, d]) {
  const k = (d - c) / (b - a || 1);
  return Object.assign((v) => c + (v - a) * k, { domain: [a, b], invert: (p) => a + (p - c) / (k || 1) });
}

function logarithmic([a, b], range) {
  const inner = linear([Math.log10(a), Math.log10(b)], range);
  return Object.assign((v) => inner(Math.log10(Math.max(v, 1e-300))), { domain: [a, b] });
}

function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= rough * 0.999);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++)
    found.push(+(n * step).toPrecision(12));
  return found;
}

function decades(low, high) {
  const found = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) {
    if (10 ** p >= low * 0.999 && 10 ** p <= high * 1.001) found.push(10 ** p);
  }
  return found.length ? found : [low, high];
}

// A figure that redraws itself: draw(width) returns the nodes to show.
function figure(title, draw, options = {}) {
  const body = h('div', { class: 'plot' });
  const node = h(
    'figure',
    { class: options.class || null },
    h('figcaption', {}, h('strong', {}, title), options.note && h('span', {}, options.note)),
    body,
    options.legend || null,
  );
  let last = 0;
  const redraw = () => {
    const width = Math.floor(body.clientWidth);
    if (width > 40) {
      last = width;
      body.replaceChildren(...[draw(width)].flat());
    }
  };
  new ResizeObserver(() => {
    if (Math.abs(body.clientWidth - last) > 1) redraw();
  }).observe(body);
  drawn.push(node);
  node.redraw = redraw;
  requestAnimationFrame(redraw);
  return node;
}

let drawn = [];
function redrawAll() {
  drawn = drawn.filter((node) => node.isConnected);
  drawn.forEach((node) => node.redraw());
}

function axis(box, x, y, options) {
  const { left, top, width, height } = box;
  const right = left + width,
    bottom = top + height;
  const g = s('g', { class: 'axes' });
  for (const value of options.yTicks || []) {
    const at = Math.round(y(value)) + 0.5;
    g.append(
      s('line', { x1: left, x2: right, y1: at, y2: at, class: 'grid' }),
      s(
        'text',
        { x: left - 8, y: at + 4, 'text-anchor': 'end' },
        options.yFormat ? options.yFormat(value) : short(value),
      ),
    );
  }
  for (const value of options.xTicks || []) {
    const at = Math.round(x(value)) + 0.5;
    g.append(
      s('line', { x1: at, x2: at, y1: bottom, y2: bottom + 5, class: 'tick' }),
      s(
        'text',
        { x: at, y: bottom + 18, 'text-anchor': right - at < 22 ? 'end' : 'middle' },
        options.xFormat ? options.xFormat(value) : short(value),
      ),
    );
  }
  g.append(s('line', { x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5, class: 'base' }));
  if (options.xLabel)
    g.append(s('text', { x: right, y: bottom + 36, 'text-anchor': 'end', class: 'label' }, options.xLabel));
  if (options.yLabel) g.append(s('text', { x: 0, y: top - 12, class: 'label' }, options.yLabel));
  return g;
}

const tip = h('div', { class: 'tip', role: 'status', hidden: true });
function showTip(x, y, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const width = tip.offsetWidth,
    height = tip.offsetHeight;
  tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - width - 8)) + 'px';
  tip.style.top = (y + height + 24 > innerHeight ? y - height - 12 : y + 16) + 'px';
}
const hideTip = () => {
  tip.hidden = true;
};

const path = (points) =>
  points.map(([x, y], n) => (n ? 'L' : 'M') + x.toFixed(1) + ' ' + y.toFixed(1)).join('');
function steps(points) {
  const out = [];
  points.forEach(([x, y], n) => {
    if (n) out.push([x, points[n - 1][1]]);
    out.push([x, y]);
  });
  return out;
}

// Lines over a common x. series: [{name, colour, points: [[x, y]], dash}]
function lines(title, series, options = {}) {
  return figure(
    title,
    (width) => {
      const height = options.height || 220;
      const box = {
        left: options.left || 52,
        top: 26,
        width: width - (options.left || 52) - 14,
        height: height - 72,
      };
      const every = series.flatMap((one) => one.points);
      if (!every.length) return h('p', { class: 'empty' }, 'Nothing to draw yet.');
      const xs = every.map((p) => p[0]),
        ys = every.map((p) => p[1]);
      let [low, high] = options.yDomain || [Math.min(...ys), Math.max(...ys)];
      if (high - low < 1e-9) {
        high += options.room || 0.02;
        low -= options.roomBelow ?? (options.room || 0.02);
      }
      const pad = options.yDomain ? 0 : (high - low) * 0.06;
      const x = linear([Math.min(0, ...xs), Math.max(...xs, 1)], [box.left, box.left + box.width]);
      const y = linear(
        [options.floor === undefined ? low - pad : Math.max(options.floor, low - pad), high + pad],
        [box.top + box.height, box.top],
      );
      const root = s(
        'svg',
        { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': options.alt || title },
        axis(box, x, y, {
          xTicks: ticks(...x.domain, width / 90).filter(Number.isInteger),
          yTicks: ticks(...y.domain, 4),
          xFormat: count,
          yFormat: options.yFormat,
          xLabel: options.xLabel,
          yLabel: options.yLabel,
        }),
      );
      if (options.mark !== undefined && options.mark >= y.domain[0] && options.mark <= y.domain[1]) {
        root.append(
          s('line', {
            x1: box.left,
            x2: box.left + box.width,
            y1: y(options.mark),
            y2: y(options.mark),
            class: 'unedited',
          }),
        );
      }
      for (const one of series) {
        const at = one.points.map(([a, b]) => [x(a), y(b)]);
        if (at.length && options.extend)
          at.push([
            x.domain[1] === undefined ? at.at(-1)[0] : x(Math.max(one.end ?? 0, one.points.at(-1)[0])),
            at.at(-1)[1],
          ]);
        const shape = path(options.smooth ? at : steps(at));
        if (options.area)
          root.append(
            s('path', {
              d: shape + `L${at.at(-1)[0]} ${box.top + box.height}L${at[0][0]} ${box.top + box.height}Z`,
              class: 'area',
              style: { fill: one.colour },
            }),
          );
        root.append(
          s('path', {
            d: shape,
            class: 'line',
            style: { stroke: one.colour, 'stroke-dasharray': one.dash || 'none' },
          }),
        );
      }
      const rule = s('line', { y1: box.top, y2: box.top + box.height, class: 'rule', visibility: 'hidden' });
      root.append(rule);
      root.addEventListener('mousemove', (event) => {
        const place = root.getBoundingClientRect(),
          at = x.invert(event.clientX - place.left);
        const rows = series
          .map((one) => [one, one.points.filter((p) => p[0] <= at).at(-1)])
          .filter(([, p]) => p);
        if (!rows.length) return hideTip();
        rule.setAttribute('x1', event.clientX - place.left);
        rule.setAttribute('x2', event.clientX - place.left);
        rule.setAttribute('visibility', 'visible');
        showTip(
          event.clientX,
          event.clientY,
          h('div', { class: 'muted' }, `${options.xName || 'at'} ${count(Math.max(0, at))}`),
          rows.map(([one, p]) =>
            h(
              'div',
              {},
              series.length > 1 && h('i', { class: 'dot', style: { background: one.colour } }),
              one.name + ' ',
              h('b', {}, (options.yFormat || short)(p[1])),
            ),
          ),
        );
      });
      root.addEventListener('mouseleave', () => {
        hideTip();
        rule.setAttribute('visibility', 'hidden');
      });
      return root;
    },
    options,
  );
}

// One bar in parts. parts: [{name, value, colour}]
function stacked(parts, total, label) {
  return h(
    'div',
    { class: 'stack', role: 'img', 'aria-label': label },
    parts
      .filter((part) => part.value > 0)
      .map((part) =>
        h('span', {
          style: { width: (part.value / total) * 100 + '%', background: part.colour },
          onmousemove: (event) =>
            showTip(
              event.clientX,
              event.clientY,
              h('b', {}, part.name),
              ` ${part.text || amount(part.value)}, ${share(part.value, total)}`,
            ),
          onmouseleave: hideTip,
        }),
      ),
  );
}

const legend = (parts) =>
  h(
    'ul',
    { class: 'legend' },
    parts.map((part) =>
      h(
        'li',
        {},
        h('i', { class: 'dot ' + (part.class || ''), style: part.colour ? { background: part.colour } : {} }),
        part.name,
      ),
    ),
  );
