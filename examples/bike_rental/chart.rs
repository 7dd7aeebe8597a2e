//! The picture: what the budgets did to the partner's load. Drawn as an SVG file.

use crate::partner::Arrival;
use crate::report::{Figures, Report};
use crate::script::{END, FAILURES_IN_100, OUTAGE, RIDERS};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::fs;
use std::path::Path;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const SIZE: (u32, u32) = (1000, 560);
const NAMES: [&str; 3] = ["no budget", "token bucket", "10 % ratio"];
/// Three colours of Okabe and Ito's palette, which people with any kind of colour vision can tell apart.
const COLOURS: [RGBColor; 3] = [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];
const CALLS: RGBColor = RGBColor(190, 190, 190);
const SHADE: RGBColor = RGBColor(240, 240, 240);
const INK: RGBColor = RGBColor(30, 30, 30);
const PALE_INK: RGBColor = RGBColor(90, 90, 90);

/// Draws the report into a file.
pub fn draw(report: &Report, file: &Path) -> Result {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let figures = report.figures();
        title(&area, &figures)?;
        let (bars_area, time_area) = area.margin(112, 12, 24, 20).split_horizontally(420);
        bars(&bars_area, &figures)?;
        time_line(&time_area, [&report.none, &report.token, &report.ratio].map(|seen| &seen.arrivals[..]))?;
        area.present()?;
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(file, svg)?)
}

fn title(area: &Area<'_>, [none, _, ratio]: &[Figures; 3]) -> Result {
    let claim = format!(
        "Retries multiply the load of an outage by {:.1}; a 10 % budget holds it at {:.1}",
        none.outage_load_factor, ratio.outage_load_factor
    );
    let setting = format!(
        "A bike rental and its partner over real sockets: {RIDERS} calls a second, at most three attempts each"
    );
    area.draw_text(&claim, &bold(30, INK, HPos::Left), (24, 22))?;
    area.draw_text(&setting, &text(18, PALE_INK, HPos::Left), (24, 60))?;
    Ok(())
}

/// The load factors: the calls themselves in grey, the retries on top in colour.
fn bars(area: &Area<'_>, figures: &[Figures; 3]) -> Result {
    let highest = figures.iter().map(|it| it.outage_load_factor).fold(1.0, f64::max);
    area.draw_text("Attempts per call during the outage", &bold(20, INK, HPos::Left), (0, 0))?;
    let mut chart = ChartBuilder::on(area)
        .margin_top(40)
        .margin_right(36)
        .x_label_area_size(72)
        .build_cartesian_2d(0.0..3.0, 0.0..highest * 1.12)?;
    for (((left, name), colour), figures) in [0.0, 1.0, 2.0].into_iter().zip(NAMES).zip(COLOURS).zip(figures) {
        let load = figures.outage_load_factor;
        let bar = |from, to| [(left + 0.16, from), (left + 0.84, to)];
        let middle = left + 0.5;
        let granted = format!("{} retries granted", figures.granted);
        let denied = format!("{} denied", figures.denied);
        chart.draw_series([
            Rectangle::new(bar(0.0, load.min(1.0)), CALLS.filled()),
            Rectangle::new(bar(load.min(1.0), load), colour.filled()),
        ])?;
        let label = |words: String, size, colour, down| {
            EmptyElement::at((middle, 0.0)) + Text::new(words, (0, down), text(size, colour, HPos::Center))
        };
        chart.draw_series([
            label(name.to_owned(), 20, INK, 10),
            label(granted, 15, PALE_INK, 34),
            label(denied, 15, PALE_INK, 52),
        ])?;
        let number = bold(27, INK, HPos::Center);
        chart.draw_series([EmptyElement::at((middle, load)) + Text::new(format!("{load:.2}"), (0, -28), number)])?;
        chart.draw_series([
            EmptyElement::at((middle, 0.5)) + Text::new("first attempts", (0, -7), text(15, INK, HPos::Center))
        ])?;
        if load > 1.4 {
            let retries = Text::new("retries", (0, -7), text(15, WHITE, HPos::Center));
            chart.draw_series([EmptyElement::at((middle, f64::midpoint(1.0, load))) + retries])?;
        }
    }
    chart.draw_series([PathElement::new([(0.0, 0.0), (3.0, 0.0)], INK)])?;
    Ok(())
}

/// The partner's load over time.
fn time_line(area: &Area<'_>, arrivals: [&[Arrival]; 3]) -> Result {
    let lines = arrivals.map(load_over_time);
    let highest = lines.iter().flatten().map(|(_, load)| *load).fold(0.0, f64::max);
    area.draw_text("Attempts per second at the partner", &bold(20, INK, HPos::Left), (16, 0))?;
    let top = highest * 1.2;
    let end = END.as_secs_f64();
    let mut chart = ChartBuilder::on(area)
        .margin_top(40)
        .margin_right(12)
        .x_label_area_size(72)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    let (from, to) = (OUTAGE.start.as_secs_f64(), OUTAGE.end.as_secs_f64());
    chart.draw_series([Rectangle::new([(from, 0.0), (to, top)], SHADE.filled())])?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(INK)
        .label_style(text(17, INK, HPos::Center))
        .x_labels(10)
        .y_labels(6)
        .x_label_formatter(&|second| format!("{second:.0}"))
        .y_label_formatter(&|load| format!("{load:.0}"))
        .x_desc("seconds since the start")
        .draw()?;
    let outage = format!("outage: {FAILURES_IN_100} % of the attempts fail");
    let label = Text::new(outage, (0, 6), text(17, INK, HPos::Center));
    chart.draw_series([EmptyElement::at((f64::midpoint(from, to), top)) + label])?;
    for (line, colour) in lines.into_iter().zip(COLOURS) {
        chart.draw_series(LineSeries::new(line, colour.stroke_width(3)))?;
    }
    // The legend, where the partner is healthy again and nothing else is.
    for ((name, colour), down) in NAMES.into_iter().zip(COLOURS).zip([10, 34, 58]) {
        chart.draw_series([EmptyElement::at((to, top))
            + PathElement::new([(12, down + 7), (36, down + 7)], colour.stroke_width(4))
            + Text::new(name, (44, down), text(17, INK, HPos::Left))])?;
    }
    Ok(())
}

/// Points of attempts per second, one for each half second.
fn load_over_time(arrivals: &[Arrival]) -> Vec<(f64, f64)> {
    const STEP: f64 = 0.5;
    let steps = (0..).map(|step| f64::from(step) * STEP).take_while(|from| *from < END.as_secs_f64());
    steps
        .map(|from| {
            let step = from..from + STEP;
            let inside = arrivals.iter().filter(|arrival| step.contains(&arrival.at.as_secs_f64()));
            (from + STEP / 2.0, inside.map(|_| 1.0 / STEP).sum())
        })
        .collect()
}

/// How a text looks. It hangs below the point where it is put.
fn text(size: u32, colour: RGBColor, anchor: HPos) -> TextStyle<'static> {
    styled(FontStyle::Normal, size, colour, anchor)
}

fn bold(size: u32, colour: RGBColor, anchor: HPos) -> TextStyle<'static> {
    styled(FontStyle::Bold, size, colour, anchor)
}

fn styled(style: FontStyle, size: u32, colour: RGBColor, anchor: HPos) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(size), style);
    TextStyle { color: colour.to_backend_color(), ..font.into() }.pos(Pos::new(anchor, VPos::Top))
}
