// SPDX-License-Identifier: MIT
// The files of the page; their bytes are in the program.

enum PageFile: String, CaseIterable {
    case index = "/"
    case style = "/page.css"
    case icon = "/icon.svg"
    case page = "/page.js"
    case parts = "/parts.js"
    case head = "/head.js"
    case belt = "/belt.js"
    case force = "/force.js"
    case grip = "/grip.js"
    case features = "/features.js"
    case values = "/values.js"

    static func named(_ path: String) -> PageFile? { PageFile(rawValue: path) }

    var bytes: [UInt8] {
        switch self {
        case .index: PackageResources.index_html
        case .style: PackageResources.page_css
        case .icon: PackageResources.icon_svg
        case .page: PackageResources.page_js
        case .parts: PackageResources.parts_js
        case .head: PackageResources.head_js
        case .belt: PackageResources.belt_js
        case .force: PackageResources.force_js
        case .grip: PackageResources.grip_js
        case .features: PackageResources.features_js
        case .values: PackageResources.values_js
        }
    }

    var type: String {
        switch self {
        case .index: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .icon: "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }
}
