// SPDX-License-Identifier: MIT
// Fjorden: the grip from above, its keys as they are moved.
import { Card, svg } from './parts.js'

/** Milliseconds for which a key is shown that reports no release. */
const FLASH = 400
const DETENT = 18

export class GripCard extends Card {
  draw() {
    const name = (x, y, text) => svg('text', { class: 'small', x, y, text })
    this.keys = {
      shutter: svg('circle', { class: 'key', cx: 82, cy: 92, r: 34, 'data-grip': 'shutter' }),
      dial: svg('circle', { class: 'key', cx: 208, cy: 92, r: 38, 'data-grip': 'dial' }),
      fn: svg('rect', { class: 'key', x: 284, y: 68, width: 60, height: 34, rx: 17, 'data-grip': 'fn' }),
      custom: svg('rect', { class: 'key', x: 284, y: 112, width: 60, height: 20, rx: 10, 'data-grip': 'custom' }),
    }
    this.turned = svg('g', { class: 'turn' }, ...Array.from({ length: 12 }, (_, i) => svg('line', { class: 'notch',
      x1: 208, x2: 208, y1: 58, y2: 64, transform: `rotate(${i * 30} 208 92)` })),
    svg('line', { class: 'pointer', x1: 208, x2: 208, y1: 60, y2: 74 }))
    this.turned.style.transformOrigin = '208px 92px'
    this.lever = svg('g', { class: 'turn' }, svg('rect', { class: 'key', x: 189, y: 160, width: 22, height: 38, rx: 11,
      'data-grip': 'lever' }))
    this.drawing = svg('svg', { viewBox: '0 0 400 230', role: 'img', 'aria-label': 'Grip' },
      svg('rect', { class: 'body', x: 14, y: 22, width: 372, height: 190, rx: 60 }),
      svg('rect', { class: 'slot', x: 140, y: 174, width: 120, height: 10, rx: 5 }), ...Object.values(this.keys),
      this.turned, this.lever,
      name(82, 152, 'shutter'), name(208, 148, 'dial'), name(314, 152, 'Fn'), name(288, 184, 'lever'))
    this.drawing.style.maxWidth = '22rem'
    this.figure.append(this.drawing)
    this.angle = 0
  }

  event(event) {
    if (event.event !== 'grip') return
    const kind = event.grip_event
    const count = event.count || 1
    this.element.dataset.grip = kind
    this.drawing.setAttribute('aria-label', `Grip: ${kind.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()}`)
    switch (kind) {
      case 'shutterButtonHalfDown': return this.show('shutter', 'half')
      case 'shutterButtonDown': return this.show('shutter', 'on')
      case 'shutterButtonReleased': return this.show('shutter', '')
      case 'dialButtonCW': return this.turn(DETENT * count)
      case 'dialButtonCCW': return this.turn(-DETENT * count)
      case 'dialButtonPress': case 'dialButtonLongPress': return this.flash('dial')
      case 'fnButtonPress': case 'fnButtonLongPress': return this.flash('fn')
      case 'customButtonPress': case 'customButtonLongPress': return this.flash('custom')
      case 'zoomLeverLeft': case 'zoomLeverHoldLeft': return this.tilt(-40)
      case 'zoomLeverRight': case 'zoomLeverHoldRight': return this.tilt(40)
      case 'zoomLeverNeutral': return this.tilt(0)
    }
  }

  show(key, state) {
    this.keys[key].classList.toggle('half', state === 'half')
    this.keys[key].classList.toggle('on', state === 'on')
  }

  flash(key) {
    this.show(key, 'on')
    setTimeout(() => this.show(key, ''), FLASH)
  }

  turn(degrees) {
    this.angle += degrees
    this.turned.style.transform = `rotate(${this.angle}deg)`
  }

  tilt(shift) {
    this.lever.style.transform = `translateX(${shift}px)`
    this.lever.firstChild.classList.toggle('on', shift !== 0)
  }
}
