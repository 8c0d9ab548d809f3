// The plane of time and error: its scales, and all that is drawn behind the points.
//
// Time is relative to the unedited program. Errors have their own scale above a strip for what is
// exact, logarithmic if they differ much.

function plane(width, { times, errors, exact, strip, height }) {
  const left = 64,
    top = 30,
    inner = { left, top, width: width - left - 16, height: height - top - 46 };
  const bottom = top + inner.height,
    middle = bottom - strip / 2;
  const x = linear(times, [left, left + inner.width]);
  let low = Infinity,
    high = 0;
  for (const error of errors) {
    if (error < low) low = error;
    if (error > high) high = error;
  }
  const wide = high / low > 12,
    span = [exact ? bottom - strip - 12 : bottom, top];
  const y = wide
    ? logarithmic([low * 0.8, high * 1.25], span)
    : linear([Math.max(0, low - (high - low || low) * 0.1), high + (high - low || high) * 0.1], span);

  function background() {
    const g = s('g', {});
    if (exact)
      g.append(
        s('rect', { x: left, y: bottom - strip, width: inner.width, height: strip, class: 'strip', rx: 4 }),
        s('text', { x: left - 8, y: middle + 4, 'text-anchor': 'end', class: 'word' }, 'exact'),
      );
    const some = errors.length > 0;
    g.append(
      axis(inner, x, y, {
        xTicks: ticks(...x.domain, width / 100),
        xFormat: (v) => String(+v.toFixed(4)),
        xLabel: 'time, relative to the unedited program  (less is faster)',
        yTicks: some ? (wide ? decades(...y.domain) : ticks(...y.domain, 5)) : [],
        yLabel: some ? 'error' : '',
      }),
      s('line', { x1: x(1), x2: x(1), y1: top, y2: bottom, class: 'unedited' }),
      s('text', { x: x(1), y: top - 8, 'text-anchor': 'middle', class: 'word' }, 'unedited'),
    );
    return g;
  }
  return { x, y, middle, background };
}
