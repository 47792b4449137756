//! The dashboard as Grafana reads it (10 and later).

use serde_json::{Value, json};

use super::{
    figure::Database,
    panels::{Kind, Line, Panel, Section, sections},
};

/// Of all databases the same dashboard, with what they have.
pub(super) fn dashboard(database: Database) -> Value {
    let mut panels = Vec::new();
    let mut top = 0;
    for Section { title, panels: all } in sections() {
        panels.push(json!({
            "type": "row",
            "title": title,
            "collapsed": false,
            "id": panels.len() + 1,
            "gridPos": { "x": 0, "y": top, "w": COLUMNS, "h": 1 },
            "panels": [],
        }));
        top += 1;
        let (mut left, mut tallest) = (0, 0);
        for one in all {
            let targets = targets(database, &one);
            if targets.is_empty() {
                continue;
            }
            let (width, height) = one.size;
            if left + width > COLUMNS {
                (left, top) = (0, top + tallest);
                tallest = 0;
            }
            let place = json!({ "x": left, "y": top, "w": width, "h": height });
            panels.push(panel(database, &one, targets, place, panels.len() + 1));
            left += width;
            tallest = tallest.max(height);
        }
        top += tallest;
    }
    json!({
        "uid": format!("onrush-{}", database.name()),
        "title": format!("Onrush ({})", database.title()),
        "description": "A load test that Onrush, or k6 with the same output, runs. Made by onrush grafana export.",
        "tags": ["onrush", "k6", "load test"],
        "schemaVersion": 39,
        "version": 1,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "5s",
        "time": { "from": "now-15m", "to": "now" },
        "timepicker": {},
        "annotations": { "list": [] },
        "templating": { "list": variables(database) },
        "panels": panels,
    })
}

/// Columns of a dashboard.
const COLUMNS: u32 = 24;

fn source(database: Database) -> Value {
    json!({ "type": database.source(), "uid": "${datasource}" })
}

/// What is chosen at the top: the data source, and which runs, scenarios and names.
fn variables(database: Database) -> Vec<Value> {
    let mut all = vec![json!({
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": database.source(),
        "refresh": 1,
        "hide": 0,
    })];
    for (name, label) in [("testid", "Run (--tag testid=…)"), ("scenario", "Scenario"), ("name", "Request")] {
        all.push(json!({
            "name": name,
            "label": label,
            "type": "query",
            "datasource": source(database),
            "query": database.values(name),
            "definition": database.values(name),
            "refresh": 2,
            "sort": 1,
            "multi": true,
            "includeAll": true,
            // Also what has no such label.
            "allValue": ".*",
            "current": { "text": "All", "value": "$__all" },
        }));
    }
    all
}

fn targets(database: Database, panel: &Panel) -> Vec<Value> {
    let target = |(index, line): (usize, &Line)| {
        let query = database.query(&line.figure)?;
        // A, B, C, …: panels have few of them.
        let letter = char::from(b'A' + u8::try_from(index).ok()?).to_string();
        let is_instant = matches!(panel.kind, Kind::Table);
        Some(match database {
            Database::InfluxDb => json!({
                "refId": letter,
                "datasource": source(database),
                "rawQuery": true,
                "query": query,
                "alias": alias(line),
                "resultFormat": if is_instant { "table" } else { "time_series" },
            }),
            Database::PrometheusNative | Database::Prometheus | Database::Otlp => json!({
                "refId": letter,
                "datasource": source(database),
                "editorMode": "code",
                "expr": query,
                "legendFormat": if line.name.is_empty() { "__auto" } else { line.name },
                "instant": is_instant,
                "range": !is_instant,
                "format": match panel.kind {
                    Kind::Table => "table",
                    Kind::Heatmap => "heatmap",
                    Kind::Number | Kind::Lines | Kind::Stacked => "time_series",
                },
            }),
        })
    };
    panel.lines.iter().enumerate().filter_map(target).collect()
}

/// InfluxDB's way to name a line by a tag.
fn alias(line: &Line) -> String {
    line.figure
        .by
        .iter()
        .fold(line.name.to_owned(), |name, tag| name.replace(&format!("{{{{{tag}}}}}"), &format!("$tag_{tag}")))
}

fn panel(database: Database, panel: &Panel, targets: Vec<Value>, place: Value, id: usize) -> Value {
    let kind = match panel.kind {
        Kind::Number => "stat",
        Kind::Lines | Kind::Stacked => "timeseries",
        Kind::Heatmap => "heatmap",
        Kind::Table => "table",
    };
    let mut defaults = json!({ "unit": panel.unit.name(), "min": 0 });
    if panel.kind == Kind::Stacked {
        defaults["custom"] = json!({ "stacking": { "mode": "normal" }, "fillOpacity": 40 });
    }
    let mut made = json!({
        "id": id,
        "type": kind,
        "title": panel.title,
        "description": panel.about,
        "gridPos": place,
        "datasource": source(database),
        "targets": targets,
        "fieldConfig": { "defaults": defaults, "overrides": overrides(panel) },
        "options": options(panel.kind),
    });
    if panel.kind == Kind::Table {
        made["transformations"] = json!([{ "id": "merge", "options": {} }, organised(panel)]);
    }
    made
}

/// Lines and columns with a unit of their own.
fn overrides(panel: &Panel) -> Vec<Value> {
    let own = panel.lines.iter().enumerate().filter(|(_, line)| line.unit.is_some_and(|unit| unit != panel.unit));
    let of = |(index, line): (usize, &Line)| {
        let unit = line.unit.map_or("short", super::panels::Unit::name);
        let matcher = match panel.kind {
            Kind::Table => json!({ "id": "byName", "options": column(panel, index) }),
            _ => json!({ "id": "byName", "options": line.name }),
        };
        let mut properties = vec![json!({ "id": "unit", "value": unit })];
        if panel.kind == Kind::Lines {
            properties.push(json!({ "id": "custom.axisPlacement", "value": "right" }));
        }
        json!({ "matcher": matcher, "properties": properties })
    };
    own.map(of).collect()
}

/// What a column of numbers is called once it is renamed.
fn column(panel: &Panel, index: usize) -> &'static str {
    panel.lines.get(index).map_or("", |line| line.name)
}

/// Columns with names, and no column of times.
fn organised(panel: &Panel) -> Value {
    let mut names = serde_json::Map::new();
    for (index, line) in panel.lines.iter().enumerate() {
        let letter = char::from(b'A' + u8::try_from(index).unwrap_or_default());
        // Grafana leaves the letter out where there is only one.
        names.insert(format!("Value #{letter}"), line.name.into());
        if panel.lines.len() == 1 {
            names.insert("Value".to_owned(), line.name.into());
        }
    }
    json!({ "id": "organize", "options": { "excludeByName": { "Time": true }, "renameByName": names } })
}

fn options(kind: Kind) -> Value {
    match kind {
        Kind::Number => json!({
            "reduceOptions": { "calcs": ["lastNotNull"], "fields": "", "values": false },
            "colorMode": "value",
            "graphMode": "area",
        }),
        Kind::Lines | Kind::Stacked => json!({
            "legend": { "displayMode": "table", "placement": "bottom", "calcs": ["mean", "max", "lastNotNull"] },
            "tooltip": { "mode": "multi", "sort": "desc" },
        }),
        Kind::Heatmap => json!({
            "calculate": false,
            "yAxis": { "unit": "s" },
            "color": { "mode": "scheme", "scheme": "Oranges", "scale": "exponential", "exponent": 0.5, "steps": 64 },
            "cellGap": 0,
        }),
        Kind::Table => json!({ "showHeader": true, "cellHeight": "sm", "sortBy": [] }),
    }
}
