// SPDX-License-Identifier: MIT
// A family without a drawing: its values, as the table of the family names them.
import { Card, values } from './parts.js'

/** As the lines have it; words for flags. */
const shown = value => value === undefined || value === null ? '–'
  : typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)

export class ValuesCard extends Card {
  draw() {
    super.draw()
    this.known = {}
  }

  /** The rows are made again if the family has others: a file of a device may be replaced while the page is open. */
  state(state) {
    const { values: rows = [] } = this.device
    const made = JSON.stringify(rows)
    if (this.made !== made) {
      this.made = made
      this.body.replaceChildren()
      if (rows.length > 0) this.set = values(this.body, rows.map(({ path, title, unit }) => [path, title, unit ?? '']))
      this.body.firstChild?.classList.add('many')
    }
    this.known = { ...state }
    this.redraw()
  }

  sample(event) {
    this.known[event.sensor] = event
    this.redraw()
  }

  paint() {
    for (const { path } of this.device.values ?? []) {
      this.set(path, shown(path.split('.').reduce((inside, name) => inside?.[name], this.known)))
    }
  }
}
