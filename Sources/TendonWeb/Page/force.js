// SPDX-License-Identifier: MIT
// Activ5: the force of the last seconds, squeezes marked.
import { Card, fixed, svg, values } from './parts.js'

/** Seconds that the curve shows. */
const SPAN = 20
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [400, 230, 56, 20, 204]

export class ForceCard extends Card {
  draw() {
    this.points = []
    this.squeezes = []
    this.marks = svg('g')
    this.under = svg('path', { class: 'under' })
    this.curve = svg('polyline', { class: 'curve' })
    this.now = svg('circle', { class: 'now', r: 5 })
    this.grid = svg('g')
    this.drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'Force' },
      this.marks, this.grid, this.under, this.curve, this.now)
    this.figure.append(this.drawing)
    this.set = values(this.body, [['force', 'Force', 'N'], ['peak', `Peak, ${SPAN} s`, 'N'], ['count', 'Squeezes', '']])
    this.total = 0
    this.set('count', '0')
  }

  sample(event) {
    if (!Number.isFinite(event.force_n)) return
    this.points.push([performance.now() / 1000, event.force_n])
    this.redraw()
  }

  event(event) {
    const now = performance.now() / 1000
    const last = this.squeezes[this.squeezes.length - 1]
    if (event.event === 'squeeze' && event.state === 'squeezed') {
      this.squeezes.push({ from: now, to: null })
      this.set('count', String(++this.total))
    } else if (event.event === 'squeeze' || event.event === 'disconnected') {
      if (last && last.to === null) last.to = now
    } else if (event.event === 'double_squeeze' && last) {
      last.isDouble = true
    }
    this.redraw()
  }

  paint() {
    const now = performance.now() / 1000
    while (this.points.length && this.points[0][0] < now - SPAN) this.points.shift()
    this.squeezes = this.squeezes.filter(one => one.to === null || one.to > now - SPAN)
    const peak = this.points.reduce((most, [, force]) => Math.max(most, force), 0)
    const top = [20, 50, 100, 200, 500, 1000].find(limit => limit >= peak * 1.05) || peak * 1.05
    const x = time => LEFT + (WIDTH - LEFT - 8) * Math.max(0, 1 - (now - time) / SPAN)
    const y = force => BOTTOM - (BOTTOM - TOP) * Math.max(0, force) / top
    this.paintGrid(top, y)
    this.marks.replaceChildren(...this.squeezes.flatMap(one => {
      const [from, to] = [x(one.from), x(one.to === null ? now : one.to)]
      return [svg('rect', { class: 'squeeze', x: from, y: TOP - 12, width: Math.max(2, to - from),
        height: BOTTOM - TOP + 12 }),
      svg('line', { class: 'squeeze-edge', x1: from, x2: Math.max(from + 2, to), y1: TOP - 12, y2: TOP - 12 }),
      svg('text', { class: 'squeeze-name', x: from + 3, y: TOP + 3, text: one.isDouble ? '2×' : '' })]
    }))
    const line = this.points.map(([time, force]) => `${x(time).toFixed(1)},${y(force).toFixed(1)}`)
    this.curve.setAttribute('points', line.join(' '))
    const last = this.points[this.points.length - 1]
    this.now.setAttribute('visibility', last ? 'visible' : 'hidden')
    if (!last) return
    this.under.setAttribute('d', `M${x(this.points[0][0])},${BOTTOM} L${line.join(' L')} L${x(last[0])},${BOTTOM}Z`)
    this.now.setAttribute('cx', x(last[0]))
    this.now.setAttribute('cy', y(last[1]))
    this.set('force', fixed(last[1], 1))
    this.set('peak', fixed(peak, 1))
    this.drawing.setAttribute('aria-label', `Force of the last ${SPAN} seconds: now ${fixed(last[1], 0)} newtons, ` +
      `peak ${fixed(peak, 0)}, ${this.squeezes.length} squeezes`)
  }

  paintGrid(top, y) {
    if (this.top === top) return
    this.top = top
    this.grid.replaceChildren(...[0, 0.5, 1].flatMap(part => [
      svg('line', { class: 'axis', x1: LEFT, x2: WIDTH - 8, y1: y(top * part), y2: y(top * part) }),
      svg('text', { class: 'tick', x: LEFT - 8, y: y(top * part) + 4, 'text-anchor': 'end',
        text: `${top * part}${part === 1 ? ' N' : ''}` }),
    ]), svg('text', { class: 'tick', x: LEFT, y: HEIGHT - 6, text: `${SPAN} s ago` }),
    svg('text', { class: 'tick', x: WIDTH - 8, y: HEIGHT - 6, 'text-anchor': 'end', text: 'now' }))
  }
}
