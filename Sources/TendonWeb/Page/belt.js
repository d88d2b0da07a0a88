// SPDX-License-Identifier: MIT
// feelSpace: the belt from above, its 16 motors, where north is, the mode.
import { Card, fixed, svg } from './parts.js'

const MOTORS = 16
/** Milliseconds that a motor vibrates after `vibrate`: one period of the pattern. */
const VIBRATION = 1000

/** The motor that serves an angle from the front. */
export function motorAt(angle) {
  return Math.floor(((angle % 360 + 360) % 360 * 4 + 45) / 90) % MOTORS
}

const spot = (degrees, radius) => {
  const radians = degrees * Math.PI / 180
  return [130 + radius * Math.sin(radians), 130 - radius * Math.cos(radians)]
}

export class BeltCard extends Card {
  draw() {
    this.motors = []
    const parts = []
    for (let motor = 0; motor < MOTORS; motor++) {
      const [cx, cy] = spot(motor * 360 / MOTORS, 96)
      const halo = svg('circle', { class: 'halo', cx, cy, r: 19 })
      const dot = svg('circle', { class: 'motor', cx, cy, r: 9.5, 'data-motor': motor })
      this.motors.push([dot, halo])
      parts.push(halo, dot)
    }
    this.north = svg('g', {}, svg('path', { class: 'north', d: 'M130 60l8 15h-16z' }))
    this.heading = svg('text', { class: 'big', x: 130, y: 136, text: '–' })
    this.mode = svg('text', { class: 'small', x: 130, y: 158 })
    this.drawing = svg('svg', { viewBox: '0 0 260 260', role: 'img', 'aria-label': 'Belt', width: 260, height: 260 },
      svg('circle', { class: 'ring', cx: 130, cy: 130, r: 96 }), svg('path', { class: 'front', d: 'M130 2l9 13h-18z' }),
      ...parts, this.north, this.heading, this.mode,
      svg('text', { class: 'small', x: 130, y: 106, text: 'heading' }))
    this.drawing.style.maxWidth = '16rem'
    this.figure.append(this.drawing)
    this.on = new Set()
    this.label()
  }

  state(state) {
    if (state.mode) this.setMode(state.mode)
    if (state.orientation) this.setHeading(state.orientation.heading_deg)
  }

  sample(event) { this.setHeading(event.heading_deg) }

  event(event) {
    if (event.mode) this.setMode(event.mode)
    if (event.event === 'action') this.act(event.action)
    if (event.event === 'disconnected') this.light([])
  }

  act(action) {
    const [name, argument] = action.replace(/^feelspace\./, '').split(' ')
    if (name === 'vibrate') this.light([motorAt(Number(argument))])
    else if (name === 'stop' || name === 'mode') this.light([])
  }

  light(motors) {
    clearTimeout(this.timer)
    this.on = new Set(motors)
    this.motors.forEach((parts, motor) => parts.forEach(part => part.classList.toggle('on', this.on.has(motor))))
    this.element.dataset.motors = [...this.on].join(' ')
    if (motors.length) this.timer = setTimeout(() => this.light([]), VIBRATION)
    this.label()
  }

  setHeading(degrees) {
    if (!Number.isFinite(degrees)) return
    this.degrees = degrees
    this.element.dataset.heading = degrees
    this.heading.textContent = `${fixed(degrees, 0)}°`
    this.north.setAttribute('transform', `rotate(${-degrees} 130 130)`)
    this.label()
  }

  setMode(mode) {
    this.mode.textContent = mode
    this.element.dataset.mode = mode
    if (this.choice && document.activeElement !== this.choice) this.choice.value = mode
    this.label()
  }

  addCommands() { if (this.choice && this.element.dataset.mode) this.choice.value = this.element.dataset.mode }

  label() {
    // Numbers as everywhere: motor 0 is at the front, and they go on clockwise.
    const lit = this.on.size ? `motor ${[...this.on].join(', ')} vibrates` : 'no motor vibrates'
    this.drawing.setAttribute('aria-label', `Belt from above: heading ${fixed(this.degrees, 0)} degrees, ` +
      `mode ${this.mode.textContent || 'unknown'}, ${lit}`)
  }
}
