// Every working variant as a dot: what the charts of the front and of progress have in common.

const state = { data: null, generation: null, selected: null, playing: null };

function indexOf(data) {
  if (!data.index) {
    data.index = new Map();
    data.points.id.forEach((id, n) => data.index.set(id, n));
  }
  return data.index;
}

// Variants that an analysis made are m1, m2 ...: no dots of the search.
const idNumber = (name) => (name[0] === 'v' ? Number(name.slice(1)) : -1);

// The front after a generation, fastest first, from what came and went in each until then.
function frontAt(data, position) {
  const now = new Set(),
    index = indexOf(data),
    ratio = (name) => data.points.ratio[index.get(idNumber(name))];
  data.history.front.slice(0, position + 1).forEach((change) => {
    if (!change) return;
    change[0].forEach((name) => now.add(name));
    change[1].forEach((name) => now.delete(name));
  });
  return [...now].sort((a, b) => ratio(a) - ratio(b));
}

const isStruck = (data, name) =>
  Object.values(data.checks[name] || {}).some((check) => check.verdict !== 'ok');
const isMeasured = (data, name) => name in data.measured && !isStruck(data, name);
const isValidated = (data, name) => isMeasured(data, name) && data.measured[name].high < 1;

// What a clock has measured of a variant, where times vary.
function clockOf(data, n) {
  const measured = data.measured['v' + data.points.id[n]];
  return measured && measured.runs > 1 ? measured : null;
}

// Whether the search goes by a model of time and what it found was measured by a clock: these are two kinds of time.
// A search that goes by the clock has times relative to the unedited program's, which is 1.
const isModelled = (data) =>
  data.baseline && data.baseline.time !== 1 && Object.values(data.measured).some((one) => one.runs > 1);

// Where times vary, the search has seen luck: what was measured longer counts in its stead. A modelled time stays as it is.
function ratioOf(data, n) {
  const measured = isModelled(data) ? null : clockOf(data, n);
  return measured ? measured.value : data.points.ratio[n];
}

function ratioText(data, n) {
  const text = `time ratio ${ratioOf(data, n).toFixed(4)}`;
  if (!isModelled(data)) return text;
  const measured = clockOf(data, n);
  return `${text} by the model${measured ? `, ${measured.value.toFixed(4)} by the clock` : ''}`;
}

// How far to the right to look: beyond it are variants much slower than the unedited program.
function ratioDomain(data) {
  const ratios = data.points.ratio;
  let low = 1;
  for (const r of ratios) if (r < low) low = r;
  const reach = Math.max(0.02, 1 - low);
  return [Math.max(0, low - reach * 0.1), 1 + reach * 0.55];
}

function hoverText(data, n) {
  const p = data.points,
    name = 'v' + p.id[n];
  const checks = Object.entries(data.checks[name] || {});
  return [
    h('div', {}, h('b', {}, name), name === 'v0' ? ' unedited program' : ''),
    h(
      'div',
      {},
      `${ratioText(data, n)}, error ${errorText(p.error[n], data.run.rounding)}`,
    ),
    h(
      'div',
      { class: 'muted' },
      `${p.patch[n] ? plural(p.patch[n].length, 'edit') + ', ' : ''}generation ${p.generation[n] + 1}`,
    ),
    name === 'v0'
      ? null
      : h(
          'div',
          { class: 'muted' },
          'search cases: ok' +
            (checks.length
              ? checks.map(([split, c]) => `, ${split}: ${c.verdict}`).join('')
              : ', not validated'),
        ),
  ].filter(Boolean);
}

// A canvas of faint dots under an SVG: hover finds the nearest, a click selects it.
function cloud(data, { width, height, place, visible, overlay, alt }) {
  const canvas = h('canvas', { 'aria-hidden': 'true' });
  const density = Math.max(2, devicePixelRatio || 1);
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.scale(density, density);
  const p = data.points,
    xs = [],
    ys = [],
    which = [];
  for (let n = 0; n < p.id.length; n++) {
    if (p.id[n] === 0 || !visible(n)) continue;
    const at = place(n);
    if (at) {
      xs.push(at[0]);
      ys.push(at[1]);
      which.push(n);
    }
  }
  const many = which.length;
  context.fillStyle = colour('dots');
  context.globalAlpha = many > 6000 ? 0.16 : many > 1500 ? 0.28 : 0.45;
  for (let k = 0; k < many; k++) {
    context.beginPath();
    context.arc(xs[k], ys[k], many > 6000 ? 1.8 : 2.4, 0, 7);
    context.fill();
  }
  const root = s(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': alt },
    overlay(),
  );
  const ring = s('circle', { r: 6, class: 'ring', visibility: 'hidden' });
  root.append(ring);
  const nearest = (event) => {
    const box = root.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    let best = -1,
      least = 22 * 22;
    for (let k = 0; k < many; k++) {
      const d = (xs[k] - x) ** 2 + (ys[k] - y) ** 2;
      if (d < least) {
        least = d;
        best = k;
      }
    }
    return best;
  };
  root.addEventListener('mousemove', (event) => {
    if (event.target.closest('.member')) return;
    const k = nearest(event);
    if (k < 0) {
      hideTip();
      ring.setAttribute('visibility', 'hidden');
      return;
    }
    ring.setAttribute('cx', xs[k]);
    ring.setAttribute('cy', ys[k]);
    ring.setAttribute('visibility', 'visible');
    showTip(event.clientX, event.clientY, ...hoverText(data, which[k]));
  });
  root.addEventListener('mouseleave', () => {
    hideTip();
    ring.setAttribute('visibility', 'hidden');
  });
  root.addEventListener('click', (event) => {
    const k = nearest(event);
    if (k >= 0 && !event.target.closest('.member')) choose('v' + p.id[which[k]]);
  });
  return h('div', { class: 'cloud' }, canvas, root);
}

function member(data, name, [x, y], options = {}) {
  const n = indexOf(data).get(idNumber(name));
  const struck = isStruck(data, name),
    validated = isMeasured(data, name);
  const kind = name === 'v0' ? 'unedited' : struck ? 'struck' : validated ? 'validated' : 'open';
  const mark = struck
    ? s('path', { d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x + 5} ${y - 5}L${x - 5} ${y + 5}` })
    : s('circle', { cx: x, cy: y, r: options.small ? 4 : 6 });
  const text = `${name}: ${ratioText(data, n)}, error ${errorText(data.points.error[n], data.run.rounding)}, ${kind === 'open' ? 'not validated' : kind}`;
  return s(
    'g',
    {
      class: `member ${kind}${state.selected === name ? ' selected' : ''}`,
      tabindex: 0,
      role: 'button',
      'aria-label': text,
      'data-id': name,
      onclick: () => choose(name),
      onkeydown: (event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          choose(name);
        }
      },
      onmousemove: (event) => showTip(event.clientX, event.clientY, ...hoverText(data, n)),
      onmouseleave: hideTip,
    },
    s('circle', { cx: x, cy: y, r: 12, class: 'target' }),
    mark,
  );
}
