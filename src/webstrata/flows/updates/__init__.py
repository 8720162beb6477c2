"""When pages will be updated: forecasts of pages and sites, selections of pages that are worth a visit."""
