// SPDX-License-Identifier: MIT
// Bose: the head of the wearer, as in a mirror: shaded faces on a canvas, the farthest first.
import { Card, fixed, values } from './parts.js'

/** Faces of a surface that is given by two angles; each face: corners, and how its color differs. */
function surface(rows, columns, point, tone) {
  const faces = []
  const at = (row, column) => point(Math.PI * row / rows, 2 * Math.PI * (column % columns) / columns)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      faces.push({ tone,
        corners: [at(row, column), at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)] })
    }
  }
  return faces
}

/** x: to the right in the mirror, y: up, z: to the viewer. */
function skull(polar, around) {
  const y = Math.cos(polar), ring = Math.sin(polar)
  const jaw = y < 0 ? 1 - 0.3 * y * y : 1
  const depth = 0.9 * (Math.cos(around) < 0 ? 1.08 : 1) * (y < 0 ? 1 - 0.1 * y * y : 1)
  return [0.76 * ring * Math.sin(around) * jaw, 1.02 * y, depth * ring * Math.cos(around)]
}

function blob(center, size) {
  return (polar, around) => [center[0] + size[0] * Math.sin(polar) * Math.sin(around),
    center[1] + size[1] * Math.cos(polar), center[2] + size[2] * Math.sin(polar) * Math.cos(around)]
}

/** A bar between two points, with a square section. */
function bar(from, to, width, tone) {
  const [fx, fy, fz] = from, [tx, ty, tz] = to
  const up = Math.abs(ty - fy) > 0.1 ? [width, 0, 0] : [0, width, 0]
  const faces = []
  for (const [a, b] of [[1, 1], [1, -1], [-1, -1], [-1, 1]].map((c, i, all) => [c, all[(i + 1) % 4]])) {
    const shift = ([s, t]) => [up[0] * s, up[1] * s, width * t * 0.6]
    const [p, q] = [shift(a), shift(b)]
    faces.push({ tone, corners: [[fx + p[0], fy + p[1], fz + p[2]], [tx + p[0], ty + p[1], tz + p[2]],
      [tx + q[0], ty + q[1], tz + q[2]], [fx + q[0], fy + q[1], fz + q[2]]] })
  }
  return faces
}

function lens(side) {
  const corners = []
  for (let i = 0; i < 14; i++) {
    const angle = 2 * Math.PI * i / 14
    const power = value => Math.sign(value) * Math.abs(value) ** 0.7
    corners.push([side * 0.31 + 0.23 * power(Math.cos(angle)), 0.17 + 0.17 * power(Math.sin(angle)), 0.93])
  }
  return [{ tone: 'lens', corners, nearer: 0.15 }]
}

const FACES = [
  ...surface(20, 32, skull, 'skin'),
  ...surface(6, 10, blob([0, -0.1, 0.9], [0.1, 0.24, 0.17]), 'skin'),
  ...surface(6, 8, blob([-0.76, 0.02, -0.05], [0.07, 0.2, 0.13]), 'skin'),
  ...surface(6, 8, blob([0.76, 0.02, -0.05], [0.07, 0.2, 0.13]), 'skin'),
  ...lens(-1), ...lens(1),
  ...bar([-0.1, 0.22, 0.95], [0.1, 0.22, 0.95], 0.025, 'frame'),
  ...bar([-0.56, 0.25, 0.9], [-0.8, 0.2, -0.1], 0.045, 'frame'),
  ...bar([0.56, 0.25, 0.9], [0.8, 0.2, -0.1], 0.045, 'frame'),
  ...surface(4, 10, blob([0, -0.52, 0.76], [0.2, 0.03, 0.06]), 'lips'),
]

/** Roll about the axis to the viewer, then pitch about the axis to the right, then yaw about the axis up. */
export function rotation(pitch, roll, yaw) {
  const [sp, cp, sr, cr, sy, cy] = [pitch, roll, yaw].flatMap(degrees => {
    const radians = degrees * Math.PI / 180
    return [Math.sin(radians), Math.cos(radians)]
  })
  return ([x, y, z]) => {
    const x1 = x * cr - y * sr, y1 = x * sr + y * cr
    const y2 = y1 * cp + z * sp, z2 = -y1 * sp + z * cp
    return [x1 * cy + z2 * sy, y2, -x1 * sy + z2 * cy]
  }
}

const LIGHT = [-0.42, 0.62, 0.66]

export class HeadCard extends Card {
  draw() {
    this.canvas = document.createElement('canvas')
    this.canvas.setAttribute('role', 'img')
    this.canvas.setAttribute('aria-label', 'Head of the wearer, as in a mirror')
    this.canvas.title = 'as in a mirror'
    this.figure.append(this.canvas)
    this.set = values(this.body, [['pitch', 'Pitch', '°'], ['roll', 'Roll', '°'], ['yaw', 'Yaw', '°']])
    this.angles = [0, 0, 0]
    const again = () => this.redraw()
    new ResizeObserver(again).observe(this.canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again)
  }

  state(state) {
    const rotation = state.rotation || state.game_rotation
    if (rotation && !this.hasSample) this.turn(rotation)
  }

  sample(event) {
    if (!Number.isFinite(event.yaw_deg)) return
    // The first of the two sensors that came; both are shown alike.
    this.sensor = this.sensor === 'rotation' ? this.sensor : event.sensor
    if (event.sensor !== this.sensor) return
    this.hasSample = true
    this.element.dataset.time = event.device_time_ms
    this.turn(event)
  }

  turn({ pitch_deg: pitch, roll_deg: roll, yaw_deg: yaw }) {
    this.angles = [pitch, roll, yaw]
    this.set('pitch', fixed(pitch, 1))
    this.set('roll', fixed(roll, 1))
    this.set('yaw', fixed(yaw, 1))
    this.redraw()
  }

  paint() {
    const { canvas } = this
    const ratio = Math.min(devicePixelRatio || 1, 2)
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio)
    if (!width || !height) return
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
    const style = getComputedStyle(canvas)
    const color = name => style.getPropertyValue(name).trim()
    const skin = ['r', 'g', 'b'].map(part => Number(color(`--head-${part}`)))
    const context = canvas.getContext('2d')
    context.clearRect(0, 0, width, height)
    const scale = height * 0.355, middle = [width / 2, height * 0.45]
    const turn = rotation(...this.angles)
    const place = ([x, y, z]) => {
      const near = 5 / (5 - z)
      return [middle[0] + x * scale * near, middle[1] - y * scale * near]
    }
    this.paintDial(context, color, [middle[0], height * 0.87], scale)
    const faces = FACES.map(face => {
      const corners = face.corners.map(turn)
      const [a, b, c] = [corners[0], corners[1], corners[2]]
      const d = corners[corners.length - 1]
      const [u, v] = [[c[0] - a[0], c[1] - a[1], c[2] - a[2]], [d[0] - b[0], d[1] - b[1], d[2] - b[2]]]
      const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
      const length = Math.hypot(...normal) || 1
      const depth = corners.reduce((sum, corner) => sum + corner[2], 0) / corners.length + (face.nearer || 0)
      const light = Math.abs(normal.reduce((sum, part, i) => sum + part * LIGHT[i], 0) / length)
      const facing = normal[2] / length
      return { corners, depth, light, facing, tone: face.tone }
    }).sort((a, b) => a.depth - b.depth)
    const tones = { skin, lips: skin.map((part, i) => part * [0.82, 0.6, 0.58][i]), frame: [40, 48, 54] }
    for (const { corners, light, tone } of faces) {
      context.beginPath()
      corners.forEach((corner, i) => context[i ? 'lineTo' : 'moveTo'](...place(corner)))
      context.closePath()
      const shade = 0.5 + 0.55 * light
      context.fillStyle = tone === 'lens' ? 'rgb(22 32 38 / 86%)'
        : `rgb(${tones[tone].map(part => Math.min(255, Math.round(part * shade))).join(' ')})`
      context.strokeStyle = tone === 'lens' ? 'rgb(40 48 54)' : context.fillStyle
      context.lineWidth = tone === 'lens' ? ratio * 2.5 : ratio * 0.8
      context.lineJoin = 'round'
      context.fill()
      context.stroke()
    }
  }

  /** Where the head looks, on the ground. */
  paintDial(context, color, [x, y], scale) {
    const [across, along] = [scale * 1.15, scale * 0.24]
    context.lineWidth = Math.max(1, scale / 45)
    context.strokeStyle = color('--line')
    context.beginPath()
    context.ellipse(x, y, across, along, 0, 0, 2 * Math.PI)
    context.stroke()
    for (let degrees = 0; degrees < 360; degrees += 30) {
      const [s, c] = [Math.sin(degrees * Math.PI / 180), Math.cos(degrees * Math.PI / 180)]
      context.beginPath()
      context.moveTo(x + s * across, y + c * along)
      context.lineTo(x + s * across * 1.06, y + c * along * 1.06)
      context.stroke()
    }
    const yaw = this.angles[2] * Math.PI / 180
    context.fillStyle = color('--accent')
    context.beginPath()
    context.arc(x + Math.sin(yaw) * across, y + Math.cos(yaw) * along, scale / 14, 0, 2 * Math.PI)
    context.fill()
  }
}
