"""Documents that are not pages: PDF, office files, EPUB, images, SVG, calendars, archives and other binaries."""
